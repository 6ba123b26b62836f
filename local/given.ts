import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { CUSTOM_FOLDER } from '../lib/automations/custom/folder.ts';
import { faultLine, readInput } from '../lib/faults/fault.ts';
import { messageOf } from '../lib/text.ts';
import type { Data, Task } from '../sandbox/records.ts';
import type { GivenWorld } from './trial/define-tests.ts';
import { watchFolders } from './watch-folders.ts';

/** `release-note.given.json`, beside `release-note.ts`. */
const isGiven = (path: string) => path.endsWith('.given.json');
const records = z.array(z.looseObject({}));
/** The records and answers that a test or a file gives. */
export const given = z
  .strictObject({ github: z.record(z.string(), z.unknown()), tasks: records, users: records, timelogs: records })
  .partial();

interface WatchGivenOptions {
  /** The answers of GitHub's stand-in, by path. It is live. */
  answers: Record<string, unknown>;
  /** The sandbox's records; undefined without a sandbox. */
  data: Data | undefined;
  /** Called with a sentence about each faulty file. */
  tell: (message: string) => void;
}

/**
 * Gives the stand-ins the contents of the `.given.json` files beside the automations, at a start and whenever one is
 * saved. A test can import such a file as its `given`.
 */
export function watchGiven({ answers, data, tell }: WatchGivenOptions, folder = CUSTOM_FOLDER): { close(): void } {
  const use = async () => {
    files.add(folder);
    for (const path of Object.keys(answers)) delete answers[path];
    const names = existsSync(folder) ? readdirSync(folder).filter(isGiven).sort() : [];
    for (const name of names) {
      const world = readGiven(join(folder, name), `automations/${name}`, tell);
      Object.assign(answers, world.github);
      if (data)
        addRecords(data, {
          tasks: missing(data.tasks, world.tasks),
          users: missing(data.users, world.users),
          timelogs: missing(data.timelogs, world.timelogs),
        });
    }
  };
  const files = watchFolders(
    (path) => path === folder || (dirname(path) === folder && isGiven(path)),
    use,
    (error) => tell(`changes of automations/*.given.json are not noticed: ${error.message}`),
  );
  files.add(dirname(folder));
  void use();
  return files;
}

function readGiven(path: string, name: string, tell: (message: string) => void): GivenWorld {
  try {
    const read = readInput(given, JSON.parse(readFileSync(path, 'utf8')));
    if (read.ok) return read.value;
    tell(`${name}: ${read.faults.map(faultLine).join('; ')}; the file is left out`);
  } catch (error) {
    tell(`${name}: ${messageOf(error)}; the file is left out`);
  }
  return {};
}

/** Leaves out the records that the sandbox kept from the last start. */
const missing = <Given extends object>(known: readonly object[], wanted: readonly Given[] = []): Given[] =>
  wanted.filter(
    (one) =>
      !known.some((record) =>
        Object.entries(one).every(([field, value]) => isDeepStrictEqual(Reflect.get(record, field), value)),
      ),
  );

/** Adds records to the sandbox. Missing fields are copied from its first record. */
export function addRecords(data: Data, { tasks = [], users = [], timelogs = [] }: GivenWorld): void {
  for (const task of tasks) data.tasks.push({ ...like(data.tasks), task_id: randomUUID(), ...named(task) });
  for (const user of users) data.users.push({ ...like(data.users), user_id: randomUUID(), ...user });
  for (const timelog of timelogs) data.timelogs.push({ ...like(data.timelogs), timelog_id: randomUUID(), ...timelog });
}

/** Returns the record to copy fields from. @throws {Error} if there is none */
function like<Record>([first]: readonly Record[]): Record {
  if (first === undefined) throw new Error('the sandbox has no such record');
  return first;
}

/** Sets both `name` and `title`, because a task has its name in both. */
const named = ({ name, title = name, ...task }: Partial<Task>): Partial<Task> =>
  title === undefined ? task : { ...task, name: name ?? title, title };

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { notRun } from '../../config/config-file.ts';
import { isTimeZone } from '../../config/names.ts';
import { ourPermissions, type RelayConfig } from '../../config/schema.ts';
import { digest } from '../../digest.ts';
import { meantName } from '../../faults/fault.ts';
import { projectFolder } from '../../project.ts';
import { messageOf } from '../../text.ts';
import { usageFault, verbIn } from '../../triggers/command.ts';
import { scheduleFault } from '../../triggers/cron.ts';
import {
  type CustomAutomation,
  type CustomAutomations,
  type CustomRun,
  type CustomTrigger,
  customOf,
} from '../../triggers/custom-automation.ts';
import { ourVerbs } from '../verbs.ts';
import { customVerb } from './custom-command.ts';
import { hookFault } from './hook-fault.ts';
import { catchingStrays, strayOf } from './strays.ts';

export const CUSTOM_FOLDER = join(projectFolder(), 'automations');

/** The automations of the folder, without the files that have a fault, and those faults. */
export interface ReadFolder {
  custom: CustomAutomations;
  /** One sentence for each fault. It begins with the path of the file or setting. */
  faults: string[];
  /** Sentences about commands. Each begins with the path of its file. */
  warnings: string[];
  files: string[];
}

/** Reads the custom automations. Loads the current version of each file, even if an earlier one was loaded before. */
export async function readCustomAutomations(config: RelayConfig, folder = CUSTOM_FOLDER): Promise<ReadFolder> {
  const files = existsSync(folder) ? readdirSync(folder).filter(isAutomation).sort() : [];
  const faults: string[] = [];
  const list: CustomAutomation[] = [];
  const loaded = new Map<string, { on: CustomTrigger; run: CustomRun }>();
  for (const file of files) {
    const name = basename(file, '.ts');
    const shown = `automations/${file}`;
    const path = join(folder, file);
    // Two saves can have the same time.
    const version = `${statSync(path).mtimeMs}-${digest(readFileSync(path, 'utf8'))}`;
    const url = `${pathToFileURL(path)}?changed=${version}`;
    const stray = strayOf(shown, { custom: { showsErrors: true }, log: console }, {});
    const exported = await catchingStrays(stray, () => import(url)).catch((error: unknown) => {
      faults.push(notRun(path, error, shown));
    });
    if (exported === undefined) continue;
    try {
      list.push(described(name, exported, list, config));
      loaded.set(name, exported);
    } catch (error) {
      faults.push(`${shown}: ${messageOf(error)}`);
    }
  }
  // A file with a fault may have a permission that is still unknown, so permissions are checked only if there are no
  // faults.
  if (faults.length === 0) faults.push(...permissionFaults(config, list));
  const find = async <Part extends 'on' | 'run'>(name: string, part: Part) => {
    const found = loaded.get(name);
    if (found) return found[part];
    throw new Error(`there is no automations/${name}.ts`);
  };
  const on = (name: string) => find(name, 'on');
  const run = (name: string) => find(name, 'run');
  const custom = { list, on, run, showsErrors: true } as const;
  const warnings = commandWarnings(config, custom);
  return { custom, faults, warnings, files: files.map((file) => join(folder, file)) };
}

export const isAutomation = (file: string) => file.endsWith('.ts') && !/\.(test|d)\.ts$/.test(file);

/**
 * Reads what the functions need to know about a file.
 * @throws {Error} with the fault of the file, and how to fix it
 */
export function described(
  name: string,
  { on, run, ...rest }: Readonly<Record<string, unknown>>,
  others: readonly CustomAutomation[],
  config: RelayConfig,
): CustomAutomation {
  const [more] = Object.keys(rest);
  const fault =
    nameFault(name) ??
    (isTrigger(on)
      ? undefined
      : 'it exports no `on`; export const on = github(…), command(…), schedule(…) or webhook(…)') ??
    (typeof run === 'function'
      ? undefined
      : 'it exports no `run`; export const run: Run<typeof on> = async (input, steps) => …') ??
    (more === undefined ? undefined : `it exports '${more}'; only on and run are read, so keep the rest in the file`) ??
    triggerFault(on as CustomTrigger, others, config);
  if (fault !== undefined) throw new Error(fault);
  return { name, ...dataOf(on as CustomTrigger) };
}

const isTrigger = (on: unknown): on is CustomTrigger =>
  typeof on === 'object' &&
  on !== null &&
  ['github', 'command', 'schedule', 'webhook'].includes(String((on as CustomTrigger).kind));

function dataOf(
  on: CustomTrigger,
): CustomAutomation extends infer One ? (One extends unknown ? Omit<One, 'name'> : never) : never {
  switch (on.kind) {
    case 'github':
      return { kind: on.kind, events: on.events, by: on.by };
    case 'command': {
      const { kind, usage, does, example, permission, inComments } = on;
      return { kind, usage, does, example, permission, inComments };
    }
    case 'schedule':
      return { kind: on.kind, cron: on.cron, timeZone: on.timeZone, connection: on.connection };
    case 'webhook':
      return { kind: on.kind, verify: on.verify, challenge: on.challenge, connection: on.connection };
  }
}

/** True if the relay has a built-in automation with that name. */
export function isOurs(name: string): boolean {
  const ours = readdirSync(join(import.meta.dirname, '..'), { withFileTypes: true });
  return ours.some((one) => one.isDirectory() && one.name === name);
}

export function nameFault(name: string): string | undefined {
  if (!/^[a-z][a-z0-9-]{0,40}$/.test(name))
    return 'its name may have only lowercase letters, digits and hyphens, with a letter first';
  const isTaken = isOurs(name) || ourVerbs.some(({ verb }) => verb === name);
  return isTaken ? `the relay has '${name}' itself; give the file another name` : undefined;
}

function triggerFault(on: CustomTrigger, others: readonly CustomAutomation[], config: RelayConfig): string | undefined {
  switch (on.kind) {
    case 'github':
      return on.events.map(eventFault).find((fault) => fault !== undefined);
    case 'command':
      return usageFault(on.usage) ?? verbFault(verbIn(on.usage), others) ?? exampleFault(on);
    case 'schedule':
      if (!isTimeZone(on.timeZone)) return `there is no time zone '${on.timeZone}'; write a name such as Europe/Berlin`;
      return scheduleFault(on.cron, on.timeZone, Date.now()) ?? connectionFault(on, config);
    case 'webhook':
      return hookFault(on) ?? connectionFault(on, config);
  }
}

function verbFault(verb: string, others: readonly CustomAutomation[]): string | undefined {
  if (ourVerbs.some((one) => one.verb === verb)) return `the relay has the command ${verb} itself; use another word`;
  const other = others.find((one) => one.kind === 'command' && verbIn(one.usage) === verb);
  return other && `automations/${other.name}.ts has the command ${verb}, too; use another word`;
}

function exampleFault(on: CustomTrigger & { kind: 'command' }): string | undefined {
  const { read } = customVerb({ name: '', ...on });
  const [verb = '', ...words] = on.example.split(' ');
  const reading = verb === verbIn(on.usage) && read(words.join(' '), []);
  return reading && 'command' in reading ? undefined : `the example '${on.example}' does not fit '${on.usage}'`;
}

/** Finds misspelled permissions, which would open their command to everyone. */
function permissionFaults({ slack }: RelayConfig, list: readonly CustomAutomation[]): string[] {
  const known = [...ourPermissions, ...list.flatMap((one) => (one.kind === 'command' ? (one.permission ?? []) : []))];
  return Object.keys(slack?.permissions ?? {}).flatMap((name) =>
    known.includes(name) ? [] : `slack.permissions.${name}: no command has this permission; ${meantName(name, known)}`,
  );
}

/**
 * Warns about commands that nobody can use, and about commands whose permission is not configured, so that everyone may
 * use them.
 */
const commandWarnings = ({ slack, connections }: RelayConfig, custom: CustomAutomations): string[] =>
  customOf(custom, 'command').flatMap(({ name, usage, permission, inComments }) => {
    const [file, verb] = [`automations/${name}.ts`, verbIn(usage)];
    if (!slack && !inComments)
      return `${file}: nobody can use '${verb}' without slack in relay.config.ts; add slack: { connection: '${Object.keys(connections)[0]}' }`;
    if (!slack || permission === undefined || Object.hasOwn(slack.permissions, permission)) return [];
    return `${file}: everyone may use '${verb}', because slack.permissions has no '${permission}'; add it, or leave the permission out`;
  });

function connectionFault(
  { kind, connection }: Pick<CustomTrigger & { kind: 'schedule' | 'webhook' }, 'kind' | 'connection'>,
  { connections }: RelayConfig,
): string | undefined {
  const names = Object.keys(connections);
  if (connection === undefined) {
    return names.length === 1
      ? undefined
      : `relay.config.ts has several connections; name one of them${kind === 'schedule' ? ' as the third argument of schedule(…)' : ', as a field of webhook({ … })'}: { connection: '${names[0]}' }`;
  }
  return names.includes(connection)
    ? undefined
    : `relay.config.ts has no connection '${connection}'; it has ${names.join(', ')}`;
}

let known: string[] | undefined;

/** The names of GitHub's events, read from the file with their types. */
function githubEvents(): string[] {
  if (known) return known;
  const types = readFileSync(
    createRequire(import.meta.url).resolve('@octokit/openapi-webhooks-types/types.d.ts'),
    'utf8',
  );
  const names = types
    .slice(types.indexOf('export interface operations'))
    .matchAll(/^ {2}"?([\w-]+(?:\/[\w-]+)?)"?: \{$/gm);
  known = [...names].map(([, name = '']) => name.replace('/', '.').replaceAll('-', '_'));
  return known;
}

export function eventFault(event: string): string | undefined {
  const events = githubEvents();
  if (events.includes(event)) return undefined;
  const actions = events.filter((one) => one.startsWith(`${event}.`));
  if (actions.length > 0) return `GitHub sends ${event} with an action; name one, such as '${actions[0]}'`;
  return `GitHub has no event '${event}'; ${meantName(event, events)}`;
}

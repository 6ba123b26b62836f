import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { github } from 'partner-relay';
import * as z from 'zod/mini';
import { createLoggedChanges } from '../../console/log-changes.ts';
import type { ConsoleOptions } from '../../console/server.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import { consoleOf, type TestConsole, TOKEN } from '../console/console-of.ts';
import { githubExamples, issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { command, TOMASZ } from '../slack-requests.ts';
import { teamInput } from '../timesheets/team.ts';

const MINUTE = 60_000;
const REPOSITORY = 'acme/web';
const CREATE = '/defects/create';

/** A relay whose console the pages show. */
export interface ShownRelay {
  relay: TestRelay;
  console: TestConsole;
  /** The address with the token. */
  url: string;
  /** Opens an issue. @returns the id of its job */
  opened(id: number, title?: string): Promise<string>;
  /** Tells the pages that jobs have changed. */
  tell(...jobIds: string[]): void;
  /** Ends the console, and starts another one on its port. */
  restart(whileEnded: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** A team's automation, whose texts from outside appear on many pages. */
const release = {
  on: github('release.published', {
    input: { title: z.string(), fields: z.record(z.string(), z.array(z.string())), asks: z.boolean() },
    job: ({ release: { id, name } }) => {
      const title = name ?? '';
      const fields = { [title.slice(0, 100)]: [title.slice(0, 100)] };
      return { happened: [id], input: { title, fields, asks: id % 2 === 0 } };
    },
  }),
  async run({ title, asks }: { title: string; asks: boolean }, { ask }: Steps) {
    if (asks) await ask(title.slice(0, 100), title);
    return title;
  },
};

export async function startShownRelay(options: Partial<ConsoleOptions> = {}): Promise<ShownRelay> {
  const web = { defects: 'https://pm.example.com/defects/{id}', tasks: 'https://pm.example.com/tasks/{id}' };
  const config = exampleConfig(
    {},
    {
      connection: { web, mcp: { accounts: 'offered' } },
      also: [REPOSITORY],
      timesheets: { teams: [teamInput] },
    },
  );
  Object.assign(config.connections, defineConfig({ connections: { agency: {} } }).connections);
  const relay = await startRelay({ config, own: { release } });
  const folder = mkdtempSync(join(tmpdir(), 'partner-relay-'));
  const logFile = join(folder, 'functions.log');
  const changes = createLoggedChanges();
  const open = (port?: number) =>
    consoleOf(relay, { changes, logFile, runSchedule: (slug, event) => relay.fire(slug, event), ...options }, port);
  let shown = await open();
  return {
    relay,
    get console() {
      return shown;
    },
    url: `${shown.url}/#token=${encodeURIComponent(TOKEN)}`,
    async opened(id, title = `Report ${id}`) {
      const { answer } = await relay.post('issues', issueEvent('opened', { id, title, repository: REPOSITORY }));
      const timestamp = new Date(relay.clock.now).toISOString();
      writeFileSync(logFile, relay.log.map((line) => `${JSON.stringify({ timestamp, ...line })}\n`).join(''));
      return String((answer.jobs as string[])[0]);
    },
    tell(...jobIds) {
      for (const jobId of jobIds) changes.saw({ jobId });
    },
    async restart(whileEnded) {
      await shown.close();
      await whileEnded();
      shown = await open(shown.port);
    },
    async close() {
      await Promise.all([shown.close(), relay.close()]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** The jobs for tests, by their outcome. */
export interface Seeded {
  settled: string;
  unknown: string;
}

/** Makes an example of everything that the pages show. */
export async function seed({ relay, opened }: ShownRelay): Promise<Seeded> {
  const { sandbox } = relay;
  sandbox.setFault({ kind: 'cut', when: 'after work', operation: CREATE });
  sandbox.setFault({ kind: 'cut', when: 'on arrival', operation: '/defects/list' });
  const unknown = await opened(42, 'Checkout charges twice after a timeout');
  await relay.workToTheEnd();
  sandbox.clearFaults();
  relay.clock.now += 10 * MINUTE;

  sandbox.setFault({ kind: 'maintenance', status: 422, operation: CREATE, times: 2 });
  await opened(298, 'Push messages arrive twice');
  await opened(311, 'App crashes when the camera is denied');
  await relay.workToTheEnd();

  sandbox.setFault({ kind: 'cut', when: 'after work', operation: CREATE, times: 1 });
  const settled = await opened(57, 'Search finds nothing behind an umlaut');
  await relay.workToTheEnd();

  await command(relay, 'log 1h30m "Login with passkeys" wrote tests');
  await command(relay, 'log 45m "Login with passkeys"', { userId: TOMASZ });
  await command(relay, 'find passkeys', { triggerId: 'find' });
  await command(relay, 'done 999', { triggerId: 'done' });
  await relay.work();
  relay.clock.now += MINUTE;

  sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: CREATE });
  for (const id of [61, 62, 63, 64]) await opened(id);
  await relay.work();
  sandbox.clearFaults();

  await relay.post('issues', issueEvent('opened', { id: 70, labels: ['question'], repository: REPOSITORY }));
  await opened(58, 'Export ignores the chosen columns');
  return { settled, unknown };
}

const HOSTILE = [
  '<img src=x onerror="document.title=\'broken in\'">',
  '\u202egnp.exe\u202c reversed',
  '\u001b[31mred\u001b[2J in a terminal',
  'a'.repeat(3_000),
  '"><script>document.title="broken in"</script>',
  'Z\u0351\u0310\u030a\u0312\u0304\u0308algo',
  'javascript:document.title="broken in"',
];

const published = githubExamples
  .find(({ name }) => name === 'release')
  ?.examples.find(({ action }) => action === 'published') as { release: object; repository: object };

/** Makes jobs whose titles try to be more than text. @returns their ids */
export async function seedHostile({ relay, opened }: ShownRelay): Promise<string[]> {
  const ids: string[] = [];
  for (const [id, name] of HOSTILE.entries()) {
    const payload = {
      ...published,
      release: { ...published.release, id, name },
      repository: { ...published.repository, full_name: REPOSITORY },
      sender: { login: name.slice(0, 200), type: 'User' },
    };
    const { answer } = await relay.post('release', payload);
    ids.push(String((answer.jobs as string[])[0]), await opened(9_000 + id, name.slice(0, 256)));
  }
  await relay.workToTheEnd();
  return ids;
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runRelay } from '../cli/run-command.ts';
import { newFolder, withPackage } from '../new-folder.ts';

/** A team's file. Exactly the lines with a cross at the end have a warning. */
const file = `import { setTimeout as pause } from 'node:timers/promises';

export const on = { kind: 'schedule', cron: '0 9 * * MON', timeZone: 'Europe/Berlin' } as const;

type Step = (...given: unknown[]) => Promise<any>;
const channel = { channel: 'C0PLATFORM' };
const ids = [101, 102];
const send = (text: string) => text.trim();
const isDone = async (id: number): Promise<boolean> => id > 101;
function late(call: () => number, fetch: () => number): number {
  call();
  return fetch();
}

export const run = async ({ date }: { date: string }, steps: Record<string, Step>) => {
  const { call, list, say: tell } = steps;
  ids.forEach(async (id) => { // ✗
    await call(\`each \${id}\`);
  });
  ids.map(async function (id) { // ✗
    await call(\`map \${id}\`);
  });
  ids
    .slice(1)
    .filter(async (id) => isDone(id)); // ✗
  ids.some(isDone); // ✗
  ids.forEach((id) => call(\`short \${id}\`)); // ✗
  await Promise.all(ids.map((id) => call(\`all \${id}\`))); // ✗
  call('floats'); // ✗
  steps.say('floats, too', channel, date); // ✗
  steps?.say?.('floats, if it is there', channel, date); // ✗
  ids.length > 1 && tell('has another name', channel, date); // ✗
  void tell('voided', channel, date); // ✗
  tell('chain', channel, date).then(() => tell('behind', channel, date)); // ✗
  const later = tell('kept', channel, date); // ✗
  let kept: unknown;
  kept = call<string>('kept, too')!; // ✗
  (async () => { // ✗
    await tell('begun', channel, date);
  })();
  isDone(101); // ✗
  Promise.resolve(kept).finally(() => {}); // ✗
  setTimeout(() => later, 1_000); // ✗
  const at = Date.now() + Math.random(); // ✗
  const today = [new Date(), Date()]; // ✗
  const id = globalThis.crypto.randomUUID(); // ✗
  const { now } = performance; // ✗
  const page = await fetch(\`https://acme.example/\${new Date().getDay()}\`); // ✗

  const happened = [new Date(date), Date.parse(date), Date.UTC(2026, 1)].filter((one) => one instanceof Date);
  const all = await Promise.resolve({ Date: 1, fetch: 'Date.now()' }); // Date.now()
  await pause(1);
  for (const id of ids) await call(\`complete \${id}\`);
  const rows: string[] = await list('rows', 'tasks/list', { project_id: 'x' }, ({ name }: any) => name);
  const known = Object.create(null);
  ids.forEach((id) => {
    known[id] = rows.filter((row) => row === String(at)).map((row) => row);
  });
  send('the function of this file');
  late(() => 1, () => 2);
  late.call(undefined, () => 1, () => 2);
  const both = (text: string) => steps.say?.('told', channel, text);
  both('without a wait'); // ✗
  await both('with one');
  try {
    void 0;
  } catch (fetch) {
    known.fetch = fetch;
  }
  return \`said \${[later, known, happened, all, today, id, now, page]}\`;
};
`;

const wrong = file.split('\n').flatMap((line, index) => (line.endsWith('✗') ? [index + 1] : []));

it.each(['config check', 'test'])(
  '%s warns of exactly the code that a job cannot repeat, and each step that nothing awaits',
  async (command) => {
    const folder = newFolder();
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    write('mine.ts', file);
    const given =
      {
        'config check': write('relay.config.json', JSON.stringify({ connections: { main: {} } })),
        test: write(
          'mine.test.ts',
          "export default { 'a question': { event: { event: 'issues', labels: ['question'] }, makes: 'nothing' } };",
        ),
      }[command] ?? '';
    const said = await runRelay({ customFolder: folder }, ...command.split(' '), given);
    expect(said).toMatch(/^The configuration is valid|all as expected/m);
    const warned = [...said.matchAll(/^! automations\/mine\.ts:(\d+): \S/gm)].map(([, line]) => Number(line));
    expect([...new Set(warned)].sort((a, b) => a - b)).toEqual(wrong);
  },
);

it.each([
  [
    'everyone may use because its permission is not configured',
    { connection: 'main', permissions: { pause: {} } },
    ["everyone may use 'block', because slack.permissions has no 'block'; add it, or leave the permission out"],
  ],
  [
    'nobody can use without Slack',
    undefined,
    ['block', 'pause'].map(
      (word) => `nobody can use '${word}' without slack in relay.config.ts; add slack: { connection: 'main' }`,
    ),
  ],
])('config check warns of a command that %s', async (_, slack, warnings) => {
  const folder = withPackage(newFolder());
  const on = (word: string) =>
    `import { command } from 'partner-relay';
export const on = command('${word}', { does: 'blocks', example: '${word}', permission: '${word}' });
export const run = async () => 'done';`;
  for (const word of ['block', 'pause']) writeFileSync(join(folder, `${word}.ts`), on(word));
  const config = join(folder, 'relay.config.json');
  writeFileSync(config, JSON.stringify({ connections: { main: {} }, slack }));
  const said = await runRelay({ customFolder: folder }, 'config', 'check', config);
  expect([...said.matchAll(/^! automations\/\w+\.ts: (.*)$/gm)].map(([, warning]) => warning)).toEqual(warnings);
});

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../new-folder.ts';

const root = resolve(import.meta.dirname, '../..');

/** A file of a team, in which each line with a cross at its end must be refused. */
const file = `import { type Run, schedule } from '#relay';

export const on = schedule('0 9 * * MON', 'Europe/Berlin');

const ids = [101, 102];
const done = (id: number) => ({ item_id: id, is_completed: true });

export const run: Run<typeof on> = async ({ date }, steps) => {
  const { call, list, say } = steps;
  ids.forEach(async (id) => { // ✗
    await call(\`each \${id}\`, 'work-items/checklist/items/complete', done(id));
  });
  ids.map(async function (id) { // ✗
    await call(\`map \${id}\`, 'work-items/checklist/items/complete', done(id));
  });
  await Promise.all(ids.map((id) => call(\`all \${id}\`, 'work-items/checklist/items/complete', done(id)))); // ✗
  call('floats', 'work-items/checklist/items/complete', done(101)); // ✗
  steps.say('floats, too', { channel: 'C0PLATFORM' }, date); // ✗
  void say('voided', { channel: 'C0PLATFORM' }, date); // ✗
  say('chain', { channel: 'C0PLATFORM' }, date).then(() => say('behind', { channel: 'C0PLATFORM' }, date)); // ✗
  const later = say('kept', { channel: 'C0PLATFORM' }, date); // ✗
  (async () => { // ✗
    await say('begun', { channel: 'C0PLATFORM' }, date);
  })();
  setTimeout(() => later, 1_000); // ✗
  const at = Date.now() + Math.random(); // ✗
  for (const id of ids) await call(\`complete \${id}\`, 'work-items/checklist/items/complete', done(id));
  const rows = await list('rows', 'tasks/list', { project_id: 'x' }, ({ name }) => name);
  const known = Object.create(null);
  ids.forEach((id) => {
    known[id] = rows.filter((row) => row === String(at)).map((row) => row);
  });
  const tell = () => steps.say('told', { channel: 'C0PLATFORM' }, date);
  await tell();
  return \`said \${later} and \${known}\`;
};
`;

it('the linter refuses each step of a team that nothing waits for, and no other', () => {
  const folder = newFolder();
  const rules = { ...JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')), vcs: { enabled: false } };
  writeFileSync(join(folder, 'biome.json'), JSON.stringify(rules));
  copyFileSync(join(root, 'automations.grit'), join(folder, 'automations.grit'));
  mkdirSync(join(folder, 'automations'));
  writeFileSync(join(folder, 'automations/mine.ts'), file);
  const biome = join(root, 'node_modules/.bin/biome');
  const { stdout } = spawnSync(biome, ['lint', '--reporter=github'], { cwd: folder, encoding: 'utf8' });
  const refused = [...stdout.matchAll(/^::error .*\bline=(\d+)/gm)].map(([, line]) => Number(line));
  const wrong = file.split('\n').flatMap((line, index) => (line.endsWith('✗') ? [index + 1] : []));
  expect([...new Set(refused)].sort((a, b) => a - b)).toEqual(wrong);
});

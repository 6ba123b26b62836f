import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { withoutHeavy, writeConfig, writeCustom } from '../../infra/bundle/custom-build.ts';
import { buildFunction, functionBuild } from '../../infra/bundle/function-build.ts';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { ThrownByTeam } from '../../lib/automations/custom/thrown.ts';
import none from '../../lib/triggers/custom-automation.ts';
import { startChild } from '../child.ts';
import { withPackage } from '../new-folder.ts';
import { exampleConfig } from '../relay.ts';
import { loadedAtStart } from './loaded-at-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** esbuild's output for a function, and the part that loads at the start. */
async function built(slug: string) {
  const { metafile } = await build({ ...functionBuild(slug, join(folder, slug)), metafile: true });
  return { metafile, atStart: new Set(loadedAtStart(join(folder, slug, 'index.mjs'), metafile)) };
}

/** The source files in the bundles of these functions, by when they load. */
async function bundledFiles(slugs: readonly string[]): Promise<Bundled> {
  const found: Bundled = { atStart: [], onDemand: [] };
  for (const slug of slugs) {
    const { metafile, atStart } = await built(slug);
    for (const output of Object.values(metafile.outputs)) {
      const inputs = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
      found[atStart.has(output) ? 'atStart' : 'onDemand'].push(...inputs.map(([file]) => file));
    }
  }
  return found;
}

interface Bundled {
  atStart: string[];
  onDemand: string[];
}

it('no function carries the schema of relay.config.ts or the data of holidays: it gets the checked settings', async () => {
  const slugs = readdirSync('functions').map((file) => basename(file, '.ts'));
  const { atStart, onDemand } = await bundledFiles(slugs);
  expect(atStart).toContain('lib/config/environment.ts');
  const ofSettings = /date-holidays|lib\/config\/(schema|timesheets|holidays)/;
  expect([...atStart, ...onDemand].filter((file) => ofSettings.test(file))).toEqual([]);
});

it.each([
  ['github-webhook', 300],
  ['hooks-webhook', 281],
  ['slack-webhook', 338],
])('%s loads at most %d KB in at most five files when it starts', async (slug, kilobytes) => {
  const { atStart } = await built(slug);
  expect([...atStart].reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(kilobytes * 1_000);
  expect(atStart.size).toBeLessThanOrEqual(5);
});

it('a webhook loads Markdown and commands only for a text that may contain one, and runs nothing', async () => {
  const { atStart, onDemand } = await bundledFiles(['github-webhook']);
  const ofCommands = /markdown-it|lib\/commands|lib\/automations\/verbs/;
  expect(atStart.filter((file) => ofCommands.test(file))).toEqual([]);
  expect(onDemand.some((file) => ofCommands.test(file))).toBe(true);
});

it.each(['github-webhook', 'slack-webhook', 'hooks-webhook'])(
  '%s has no run and no client of the service',
  async (slug) => {
    const { atStart, onDemand } = await bundledFiles([slug]);
    const ofWorker =
      /node_modules\/zod\/v4\/classic|lib\/service\/(partner\/client|connection\/(connection|operator-calls)\.ts)|lib\/as-person\/protocol\/(?!oauth\/scopes)|lib\/engine\/run|\/run\.ts$/;
    expect([...atStart, ...onDemand].filter((file) => ofWorker.test(file))).toEqual([]);
  },
);

it('only the worker reads archives and XML, and loads the code for it with the first test results', async () => {
  const ofReports = /node_modules\/(yauzl|pend|sax)\//;
  const slugs = readdirSync('functions').map((file) => basename(file, '.ts'));
  const others = await bundledFiles(slugs.filter((slug) => slug !== 'job-worker'));
  const worker = await bundledFiles(['job-worker']);
  expect([...others.atStart, ...others.onDemand, ...worker.atStart].filter((file) => ofReports.test(file))).toEqual([]);
  const loaded = new Set(worker.onDemand.flatMap((file) => ofReports.exec(file)?.[1] ?? []));
  expect([...loaded].sort()).toEqual(['pend', 'sax', 'yauzl']);
});

it('the webhooks load the code for linking accounts on demand', async () => {
  const { atStart, onDemand } = await bundledFiles(['github-webhook', 'slack-webhook']);
  const ofLinking = /^lib\/as-person\b/;
  expect(atStart.filter((file) => ofLinking.test(file))).toEqual([]);
  expect(onDemand.filter((file) => ofLinking.test(file))).toContain('lib/as-person/slack/linking.ts');
});

describe("a team's automations", () => {
  /** The folder of a function with a team's automations. */
  async function deployed(slug: string, automations: string): Promise<string> {
    const target = join(folder, 'deployed', basename(automations), slug);
    buildFunction(slug, target, join(folder, 'source-maps'));
    writeConfig(exampleConfig(), target);
    writeCustom(await readCustomAutomations(exampleConfig(), automations), join(folder, 'own'))(slug, target);
    return target;
  }

  it.each([
    ['github-webhook', []],
    ['hooks-webhook', []],
    ['job-worker', ['block', 'monday-tasks', 'release-to-checklist', 'sentry-to-defect']],
  ])('%s loads their data at the start, and on demand every on, and the run of each of %j', async (slug, runs) => {
    const target = await deployed(slug, resolve('docs/guides/automations'));
    expect(readdirSync(target)).toEqual(expect.arrayContaining(['automations.mjs', 'index.mjs', 'on.mjs']));
    expect(statSync(join(target, 'automations.mjs')).size).toBeLessThan(5_000);
    const { default: own } = await import(pathToFileURL(join(target, 'automations.mjs')).href);
    expect(own.list).toHaveLength(4);
    expect(await own.on('block')).toMatchObject({ kind: 'command' });
    for (const name of runs) expect(await own.run(name)).toBeInstanceOf(Function);
    if (runs.length === 0) await expect(own.run('block')).rejects.toThrow('only job-worker runs automations');
  });

  it("an error of a run has the line in the team's file, and a webhook has no source map", async () => {
    const automations = join(folder, 'throws', 'automations');
    mkdirSync(automations, { recursive: true });
    withPackage(join(folder, 'throws'));
    const text = `import { schedule } from 'partner-relay';
export const on = schedule('0 9 * * *', 'UTC');
const keep = ({ name }) => {
  if (name !== undefined) throw new RangeError(name);
};
export const run = async ({ name }) => keep({ name });
`;
    writeFileSync(join(automations, 'thrower.ts'), text);
    const target = await deployed('job-worker', automations);
    const { default: own } = await import(`${pathToFileURL(join(target, 'automations.mjs')).href}?throws`);
    const run = await own.run('thrower');
    const thrown = await run({ name: 'words' }, {}).catch((error: unknown) => new ThrownByTeam(error));
    process.setSourceMapsEnabled(false);
    expect(thrown.inWords('automations/thrower.ts', {})).toBe('RangeError at automations/thrower.ts:4');
    expect(existsSync(join(target, 'runs/thrower.mjs.map'))).toBe(true);
    const files = readdirSync(await deployed('hooks-webhook', automations), { recursive: true });
    expect(files.filter((file) => String(file).endsWith('.map'))).toEqual([]);
  });

  it('every file of a function can be loaded, and so can a run with a CommonJS package', async () => {
    const automations = join(folder, 'archives');
    mkdirSync(automations);
    symlinkSync(resolve('node_modules'), join(automations, 'node_modules'));
    const text = `import { github } from 'partner-relay';
import { fromBuffer } from 'yauzl';
const __dirname = import.meta.dirname;
export const on = github('push', { input: {}, job: () => 'none' });
export const run = async () => [fromBuffer.name, __dirname, await import('./old.cjs')];`;
    writeFileSync(join(automations, 'archive.ts'), text);
    writeFileSync(join(automations, 'old.cjs'), 'module.exports = [__dirname, __filename];');
    const slugs = readdirSync('functions').map((file) => basename(file, '.ts'));
    const targets = await Promise.all(slugs.map((slug) => deployed(slug, automations)));
    // Vitest has a `require`, but Lambda has none.
    const load = targets.flatMap((target) =>
      globSync(join(target, '{,runs/}*.mjs')).map((file) => `await import(${JSON.stringify(file)});`),
    );
    const script = join(folder, 'load.mjs');
    writeFileSync(script, [...load, 'console.log("loaded");', 'process.exit();'].join('\n'));
    const queue = 'https://sqs.eu-central-1.amazonaws.com/111122223333/jobs';
    const child = startChild([script], folder, {
      ...{ STAGE: 'prod', TABLE_NAME: 'table', SECRET_PREFIX: 'partner-relay/prod/', AWS_REGION: 'eu-central-1' },
      ...{ INTERACTIVE_QUEUE_URL: queue, BACKGROUND_QUEUE_URL: queue },
    });
    await child.ended();
    expect(child.output()).toBe('loaded\n');
  });

  it('a run that cannot be loaded does not affect the others, and no name in the configuration sets a prototype', async () => {
    const automations = join(folder, 'loads');
    mkdirSync(automations);
    withPackage(automations);
    const on =
      "import { github } from 'partner-relay';\nexport const on = github('push', { input: {}, job: () => 'none' });";
    const bad = "if (process.env.AWS_REGION === 'moon') throw new Error('not here');";
    for (const [name, code] of Object.entries({ bad, good: '' }))
      writeFileSync(join(automations, `${name}.ts`), `${on}\n${code}\nexport const run = async () => 'ran';`);
    const target = await deployed('job-worker', automations);
    const { default: own } = await import(`${pathToFileURL(join(target, 'automations.mjs')).href}?loads`);
    vi.stubEnv('AWS_REGION', 'moon');
    await expect(own.run('bad')).rejects.toThrow('not here');
    expect(await (await own.run('good'))({}, {})).toBe('ran');
    await expect(own.on('bad')).rejects.toThrow('not here');
    expect(await own.on('good')).toMatchObject({ kind: 'github' });
    writeConfig(JSON.parse('{ "__proto__": { "people": 1 } }'), target);
    const { default: config } = await import(pathToFileURL(join(target, 'relay.config.mjs')).href);
    expect(Object.keys(config)).toEqual(['__proto__']);
  });

  const head = `import { github } from 'partner-relay'; import { open } from 'yauzl'; import { id } from './shared.ts';`;
  const on = (happened: string) =>
    `export const on = github('push', { input: {}, job: () => ({ happened: [${happened}], input: {} }) });`;
  const LARGE = `'${'x'.repeat(33_000)}'`;
  const read = 'const read = (path: string) => open(path);';
  const run = 'export const run = async () => String(read(id));';

  it.each<[string, string, RegExp?]>([
    ['what only run imports is left out', `${head} ${read} ${on('id')} ${run}`],
    ['another way to export run', `${head} ${read} ${on('id')} const go = () => read(id); export { go as run };`],
    ['an on that awaits', `${head} ${read} const it = await id; ${on('it')} ${run}`],
    ['a package in on', `${head} ${read} ${on('String(read(id))')} ${run}`, /automations\/own\.ts: .*'yauzl'/],
    ['a module of Node in on', `import { sep } from 'node:path'; ${head} ${on('sep')} ${run}`, /'node:path'/],
    ['a client made outside of run', `${head} const client = open(''); ${on('id')} ${run}`, /'yauzl'/],
    ['an on that is too large', `${head} ${on(LARGE)} ${run}`, /at most 32768; move what only run needs/],
  ])('%s', (_, text, fault) => {
    const file = join(folder, 'automations', 'own.ts');
    mkdirSync(join(folder, 'automations'), { recursive: true });
    writeFileSync(file, text);
    writeFileSync(join(folder, 'automations', 'shared.ts'), "export const id = 'x';");
    const list = [{ name: 'own', kind: 'github' as const, events: ['push'], by: 'anyone' as const }];
    const given = { custom: { ...none, list }, faults: [], warnings: [], files: [file] };
    const { custom, faults } = withoutHeavy(given, join(folder, 'own'));
    expect(faults).toEqual(fault ? [expect.stringMatching(fault)] : []);
    expect(custom.list).toEqual(fault ? [] : list);
    if (!fault) expect(readFileSync(join(folder, 'own', 'on.mjs'), 'utf8')).not.toContain('yauzl');
  });
});

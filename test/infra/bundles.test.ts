import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { functionBuild } from '../../infra/bundle/function-build.ts';
import { defineConfig, type RelayConfig } from '../../lib/config/schema.ts';
import { exampleConfig } from '../relay.ts';
import { loadedAtStart } from './loaded-at-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

const withAccounts = (accounts: 'off' | 'offered') =>
  defineConfig({ connections: { main: { mcp: { accounts } } }, slack: { connection: 'main' } });

/** What esbuild writes for a function, and what of it is loaded when the function starts. */
async function built(slug: string, config: RelayConfig) {
  const configFile = join(folder, 'relay.config.json');
  writeFileSync(configFile, JSON.stringify(config));
  const { metafile } = await build({
    ...functionBuild(slug, join(folder, slug), configFile),
    metafile: true,
  });
  return { metafile, atStart: new Set(loadedAtStart(join(folder, slug, 'index.mjs'), metafile)) };
}

/** The files that the bundles of these functions have something of, by when they are loaded. */
async function bundledFiles(config: RelayConfig, slugs: readonly string[]): Promise<Bundled> {
  const found: Bundled = { atStart: [], onDemand: [] };
  for (const slug of slugs) {
    const { metafile, atStart } = await built(slug, config);
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

it('No function carries the schema of relay.config.ts or the data of holidays: it gets the checked settings', async () => {
  const slugs = readdirSync('functions').map((file) => basename(file, '.ts'));
  const { atStart, onDemand } = await bundledFiles(withAccounts('offered'), slugs);
  expect(atStart).toContain('lib/config/environment.ts');
  const ofSettings = /date-holidays|lib\/config\/(schema|timesheets|holidays)/;
  expect([...atStart, ...onDemand].filter((file) => ofSettings.test(file))).toEqual([]);
});

it.each([
  ['github-webhook', 300],
  ['slack-webhook', 326],
])('%s loads at most %d KB in at most five files when it starts', async (slug, kilobytes) => {
  const { atStart } = await built(slug, exampleConfig());
  expect([...atStart].reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(kilobytes * 1_000);
  expect(atStart.size).toBeLessThanOrEqual(5);
});

it('A webhook reads Markdown and commands only for a text that may have one, and runs nothing', async () => {
  const { atStart, onDemand } = await bundledFiles(withAccounts('offered'), ['github-webhook']);
  const ofCommands = /markdown-it|lib\/commands|lib\/automations\/verbs/;
  expect(atStart.filter((file) => ofCommands.test(file))).toEqual([]);
  expect(onDemand.some((file) => ofCommands.test(file))).toBe(true);
});

it.each(['github-webhook', 'slack-webhook'])('%s has no run and no client of the service', async (slug) => {
  const { atStart, onDemand } = await bundledFiles(withAccounts('off'), [slug]);
  const ofWorker =
    /node_modules\/zod\/v4\/classic|lib\/service\/(partner\/client|connection\/(connection|operator-calls)\.ts)|lib\/as-person\/protocol\/(?!oauth\/scopes)|lib\/engine\/run|\/run\.ts$/;
  expect([...atStart, ...onDemand].filter((file) => ofWorker.test(file))).toEqual([]);
});

it('Only the worker reads archives and XML, and loads what does so for the first test results', async () => {
  const ofReports = /node_modules\/(yauzl|pend|sax)\//;
  const slugs = readdirSync('functions').map((file) => basename(file, '.ts'));
  const others = await bundledFiles(
    withAccounts('offered'),
    slugs.filter((slug) => slug !== 'job-worker'),
  );
  const worker = await bundledFiles(withAccounts('offered'), ['job-worker']);
  expect([...others.atStart, ...others.onDemand, ...worker.atStart].filter((file) => ofReports.test(file))).toEqual([]);
  const loaded = new Set(worker.onDemand.flatMap((file) => ofReports.exec(file)?.[1] ?? []));
  expect([...loaded].sort()).toEqual(['pend', 'sax', 'yauzl']);
});

it('The webhooks load how accounts are linked on demand', async () => {
  const { atStart, onDemand } = await bundledFiles(withAccounts('offered'), ['github-webhook', 'slack-webhook']);
  const ofLinking = /^lib\/(as-person|intake\/slack\/linking)\b/;
  expect(atStart.filter((file) => ofLinking.test(file))).toEqual([]);
  expect(onDemand.filter((file) => ofLinking.test(file))).toContain('lib/intake/slack/linking.ts');
});

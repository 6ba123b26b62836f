import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, expect, it } from 'vitest';
import { bundleAliases, bundleOptions } from '../../infra/bundle/options.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('No function carries the schema of relay.config.ts or the data of holidays: it gets the checked settings', async () => {
  const configFile = join(folder, 'relay.config.json');
  writeFileSync(configFile, '{}');
  const { metafile } = await build({
    ...bundleOptions,
    alias: bundleAliases(configFile),
    bundle: true,
    platform: 'node',
    format: 'esm',
    entryPoints: readdirSync('functions').map((file) => join('functions', file)),
    outdir: folder,
    write: false,
    metafile: true,
  });
  const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  expect(bundled).toContain('lib/config/environment.ts');
  expect(bundled.filter((file) => /date-holidays|lib\/config\/(schema|timesheets|holidays)/.test(file))).toEqual([]);
});

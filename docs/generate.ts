import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { declare } from '../pack/declarations.ts';
import { exportsIn, helpOfAll } from '../pack/interface.ts';
import { withCeilings, withCosts } from '../test/figures/pages.ts';
import { withRights } from '../test/infra/rights-table.ts';
import { withSenders } from '../test/own/senders-table.ts';
import { configurationPage } from './configuration.ts';
import { withOperations } from './operations.ts';
import { type Surface, surfaces, textsOf } from './texts.ts';

// npm run docs: writes the generated parts of the pages. test/docs/generated.test.ts checks that they are up to date.
// npm run docs -- console: prints the console's texts as one list, as people read them.
const [surface] = process.argv.slice(2);
if (surface !== undefined) {
  if (!(surface in surfaces))
    throw new Error(`there are no texts of ${surface}: name one of ${Object.keys(surfaces).join(', ')}`);
  console.log(textsOf(surface as Surface));
  process.exit();
}
const pages: Record<string, (page: string) => string | Promise<string>> = {
  'configuration.md': configurationPage,
  'deploy.md': withCosts,
  'guides/senders.md': withSenders,
  'partner-api.md': withOperations,
  'scale.md': withCeilings,
  '../SECURITY.md': withRights,
};
for (const [name, made] of Object.entries(pages)) {
  const file = new URL(name, import.meta.url);
  await writeFile(file, await made(await readFile(file, 'utf8')));
}
const folder = await mkdtemp(join(tmpdir(), 'partner-relay-docs-'));
await declare(folder);
const { exports, steps } = exportsIn(folder);
for (const [name, text] of Object.entries({ exports, steps, help: await helpOfAll() })) {
  await writeFile(new URL(`api/${name}.txt`, import.meta.url), text);
}
await rm(folder, { recursive: true });
process.exit();

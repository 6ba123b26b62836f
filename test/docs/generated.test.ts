import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { configurationPage } from '../../docs/configuration.ts';
import { withOperations } from '../../docs/operations.ts';
import { helpOfAll } from '../../pack/interface.ts';
import { withCeilings, withCosts } from '../figures/pages.ts';
import { withRights } from '../infra/rights-table.ts';
import { withSenders } from '../own/senders-table.ts';

it.each<[string, (page: string) => string | Promise<string>]>([
  ['docs/configuration.md', configurationPage],
  ['docs/api/help.txt', helpOfAll],
  ['docs/partner-api.md', withOperations],
  ['docs/deploy.md', withCosts],
  ['docs/guides/senders.md', withSenders],
  ['SECURITY.md', withRights],
  ['docs/scale.md', withCeilings],
])('`npm run docs` would change nothing in %s', async (name, made) => {
  const page = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
  expect(page).toBe(await made(page));
});

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { configurationPage } from '../../docs/configuration.ts';
import { withOperations } from '../../docs/operations.ts';
import { withCeilings, withCosts } from '../figures/pages.ts';
import { withRights } from '../infra/rights-table.ts';

const pageOf = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

describe('`npm run docs` would change nothing', () => {
  it('in docs/configuration.md, which has every setting', async () => {
    expect(await pageOf('configuration.md')).toBe(configurationPage());
  });

  it('in docs/partner-api.md, which has every operation', async () => {
    const page = await pageOf('partner-api.md');
    expect(page).toBe(withOperations(page));
  });

  it('in docs/deploy.md, which has what a stage costs', async () => {
    const page = await pageOf('deploy.md');
    expect(page).toBe(await withCosts(page));
  });

  it('in SECURITY.md, which has the rights of every role', async () => {
    const page = await pageOf('../SECURITY.md');
    expect(page).toBe(withRights(page));
  });

  it('in docs/scale.md, which has the ceilings', async () => {
    const page = await pageOf('scale.md');
    expect(page).toBe(withCeilings(page));
  });
});

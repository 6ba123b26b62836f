import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { configurationPage } from '../../docs/configuration.ts';

it('docs/configuration.md is what `npm run docs` writes', async () => {
  const text = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  expect(text).toBe(configurationPage());
});

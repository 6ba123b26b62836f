import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { loadPages } from '../../console/build.ts';

const LIMIT_BYTES = 100_000;

it('the pages have less than 100 KB in all, before compression', async () => {
  const files = [...(await loadPages())].map(([path, { body }]) => ({ path, body }));
  const bytes = files.reduce((sum, { body }) => sum + body.length, 0);
  const compressed = files.reduce((sum, { body }) => sum + gzipSync(body).length, 0);
  console.log(`The console has ${bytes} bytes, ${compressed} compressed.`);
  expect(files.map(({ path }) => path)).toEqual(['/', '/icon.svg', '/console.js', '/console.css']);
  expect(bytes).toBeLessThan(LIMIT_BYTES);
});

it('the pages name no address of another server', async () => {
  for (const { body } of (await loadPages()).values()) {
    const addresses = body.toString().match(/https?:\/\/[^\s"'`)]+/g) ?? [];
    expect(addresses.filter((address) => !address.startsWith('http://www.w3.org/'))).toEqual([]);
  }
});

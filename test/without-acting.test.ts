import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actingAsPerson } from './acting-as-person.ts';
import { startChild } from './child.ts';

const root = join(import.meta.dirname, '..');

const COPIED = [
  ...['functions', 'infra', 'lib', 'local', 'sandbox', 'test'],
  ...['docs/exactly-once.md', 'package.json', 'relay.config.ts', 'tsconfig.json', 'vitest.config.ts'],
];

/** Replaces the code that acts as a person: no account is linked. */
const NOBODY = `import type { Acting } from "../engine/run/acting.ts";
const none = (..._: unknown[]): never => {
  throw new Error('this relay acts as nobody');
};
const as = () => ({ linked: async () => 'no' as const, read: none, change: none, write: none });
const steps = { as, flush: async () => {} };
export const createActing = (_: object): Acting => ({ seal: none, unseal: none, wordsOf: () => undefined, open: () => steps });
const answers = { faultOf: none, linkAccount: none, makeLink: none, unlinkAccount: none, linkStatus: none };
export const createLinking = (..._: unknown[]) => answers;
export type Linking = typeof answers;
`;

describe('a copy of the repository without the code that acts as a person', () => {
  const copy = mkdtempSync(join(tmpdir(), 'without-acting-'));
  afterAll(() => rmSync(copy, { recursive: true }));

  beforeAll(() => {
    const acts = new Set(actingAsPerson.map((path) => join(root, path)));
    const filter = (path: string) => !acts.has(path);
    for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true, filter });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    mkdirSync(join(copy, 'lib/as-person'));
    writeFileSync(join(copy, 'lib/as-person/index.ts'), NOBODY);
  });

  async function run(program: string, ...words: string[]) {
    const child = startChild([join(root, 'node_modules', program), ...words], copy, { VITEST: '' });
    return { code: await child.ended(), said: child.output() };
  }

  it('has the same types', async () => {
    const include = ['lib', 'functions', 'infra', 'relay.config.ts'];
    writeFileSync(join(copy, 'tsconfig.relay.json'), JSON.stringify({ extends: './tsconfig.json', include }));
    expect(await run('typescript/bin/tsc', '--project', 'tsconfig.relay.json')).toEqual({ code: 0, said: '' });
  });

  it('builds its functions', async () => {
    const { functionBuild } = await import(pathToFileURL(join(copy, 'infra/bundle/function-build.ts')).href);
    const slugs = readdirSync(join(copy, 'functions')).map((file) => basename(file, '.ts'));
    expect(slugs).toContain('job-worker');
    await Promise.all(slugs.map((slug) => build(functionBuild(slug, join(copy, 'dist', slug)))));
  });

  it('passes the tests of every automation', async () => {
    const { code, said } = await run('vitest/vitest.mjs', 'run', 'test/automations/every-automation.test.ts');
    expect(code, said).toBe(0);
    expect(said).toMatch(/Tests .* passed/);
  });
});

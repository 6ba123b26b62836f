import { isBuiltin, type ResolveFnOutput, registerHooks } from 'node:module';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { beginScope, endScope } from './opened.ts';

// It starts its program in the folder that it was loaded in, which must not be one that a test removes.
import 'esbuild';

/** What a module of ours has imported before. */
const found = new Map<string, ResolveFnOutput>();

// dynalite requires `stream` for each query, and each relay imports the functions. Vitest tells another process of each
// module that is looked for.
const hooks = registerHooks({
  resolve(name, context, next) {
    if (isBuiltin(name)) return { url: `node:${name.replace(/^node:/, '')}`, shortCircuit: true };
    if (!name.startsWith('.')) return next(name, context);
    const key = `${name} ${context.parentURL}`;
    const result = found.get(key) ?? next(name, context);
    found.set(key, result);
    return { ...result, shortCircuit: true };
  },
});

/** The files of a worker run in one process, which is faster. Each finds it as the first one did. */
const folder = process.cwd();
const environment = { ...process.env };
beforeAll(beginScope);
beforeEach(beginScope);
afterEach(endScope);
afterAll(async () => {
  await endScope();
  hooks.deregister();
  vi.useRealTimers();
  vi.restoreAllMocks();
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

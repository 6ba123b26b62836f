import { isBuiltin, type ResolveFnOutput, registerHooks } from 'node:module';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { beginScope, endScope } from './opened.ts';

// esbuild starts its program in the folder where it was loaded, which must not be a folder that a test removes.
import 'esbuild';

/** The resolved imports of our modules. */
const found = new Map<string, ResolveFnOutput>();

// dynalite requires `stream` for each query, and each relay imports the functions. Vitest would report each lookup of a
// module to another process.
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

/**
 * A worker runs its test files in one process, which is faster. Each file gets the state with which the first one
 * began.
 */
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

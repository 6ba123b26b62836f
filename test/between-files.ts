import { isBuiltin, registerHooks } from 'node:module';
import { afterAll, vi } from 'vitest';
import { keepAnswers } from './lost-answers.ts';

// dynalite requires `stream` for each query, and Vitest tells another process of each module that is looked for.
const builtin = registerHooks({
  resolve(name, context, next) {
    return isBuiltin(name) ? { url: `node:${name.replace(/^node:/, '')}`, shortCircuit: true } : next(name, context);
  },
});

/** The files of a worker run in one process, which is faster. Each finds it as the first one did. */
const folder = process.cwd();
const environment = { ...process.env };
afterAll(() => {
  builtin.deregister();
  vi.useRealTimers();
  vi.restoreAllMocks();
  keepAnswers();
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

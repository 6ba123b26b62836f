import { afterAll, vi } from 'vitest';
import { keepAnswers } from './lost-answers.ts';

/** The files of a worker run in one process, which is faster. Each finds it as the first one did. */
const folder = process.cwd();
const environment = { ...process.env };
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  keepAnswers();
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

import { defineConfig, mergeConfig } from 'vitest/config';
import config from './every-test.config.ts';

/** Runs each file alone, so that a module's work at loading counts for every file that loads it. */
export default mergeConfig(
  config,
  defineConfig({ test: { isolate: true, setupFiles: ['test/mutants/record-tests.ts'] } }),
);

import { defineConfig, mergeConfig } from 'vitest/config';
import config from './every-test.config.ts';

/** Each file alone, so that what a module does when it is loaded counts for all that load it. */
export default mergeConfig(
  config,
  defineConfig({ test: { isolate: true, setupFiles: ['test/mutants/record-tests.ts'] } }),
);

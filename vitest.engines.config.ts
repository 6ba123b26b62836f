import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

export default defineConfig({
  test: {
    ...shared,
    include: ['test/engines/**/*.test.ts'],
    // The files are fetched once, and not by two tests at the same time.
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});

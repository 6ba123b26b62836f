import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/engines/**/*.test.ts'],
    // The files are fetched once, and not by two tests at the same time.
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // As in vitest.config.ts.
    retry: process.env.CI ? 1 : 0,
  },
});

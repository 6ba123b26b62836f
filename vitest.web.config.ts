import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/web/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Each file has a browser of its own.
    maxWorkers: 2,
    // As in vitest.config.ts.
    retry: process.env.CI ? 1 : 0,
  },
});

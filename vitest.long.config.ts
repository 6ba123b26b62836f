import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/long/**/*.test.ts'],
    testTimeout: 900_000,
    maxWorkers: '100%',
    // As in vitest.config.ts.
    retry: process.env.CI ? 1 : 0,
  },
});

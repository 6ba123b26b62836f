import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

export default defineConfig({
  test: {
    ...shared,
    include: ['test/web/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Each file has a browser of its own.
    maxWorkers: 2,
  },
});

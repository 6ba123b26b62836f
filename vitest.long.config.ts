import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

export default defineConfig({
  test: { ...shared, include: ['test/long/**/*.test.ts'], testTimeout: 900_000, maxWorkers: '100%' },
});

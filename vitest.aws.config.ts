import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

export default defineConfig({
  test: { ...shared, include: ['test/aws/**/*.test.ts'], testTimeout: 440_000, hookTimeout: 440_000 },
});

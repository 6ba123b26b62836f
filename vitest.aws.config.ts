import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/aws/**/*.test.ts'], testTimeout: 440_000, hookTimeout: 440_000 },
});

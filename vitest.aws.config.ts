import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/aws/**/*.test.ts'], testTimeout: 320_000, hookTimeout: 320_000 },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/aws/**', 'test/long/**', 'test/web/**'],
    // A test waits for sockets and for other processes, never for a time.
    testTimeout: 30_000,
    // They wait for sockets more than for the processor, of which vitest would leave one free.
    maxWorkers: '100%',
  },
});

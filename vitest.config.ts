import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/aws/**', 'test/long/**', 'test/web/**'],
    isolate: false,
    setupFiles: ['test/between-files.ts'],
    // A test waits for sockets and for other processes, never for a time.
    testTimeout: 90_000,
    // They wait for sockets more than for the processor, of which vitest would leave one free.
    maxWorkers: '100%',
    // The gate runs on a machine that it shares. Vitest names what passed at the second try.
    retry: process.env.CI ? 1 : 0,
  },
});

import { join } from 'node:path';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What Node has compiled is kept for the next process: the tests start hundreds.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** Short files that take long. Vitest, which begins with the largest files, would end with them, on one processor. */
const LONG = /\/(every-automation|small-histories|simulation|simulated-\w+|fuzz)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => Number(LONG.test(moduleId));
    return (await super.sort(files)).toSorted((a, b) => rank(b) - rank(a));
  }
}

/** What the tests of all kinds run with. */
export const shared: TestUserConfig = {
  // Node runs the files as it does outside of the tests, and faster than Vite.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  sequence: { sequencer: LongFirst },
  // The gate runs on a machine that it shares. Vitest names what passed at the second try.
  retry: process.env.CI ? 1 : 0,
  // A busy machine may need longer than the second of Vitest's default.
  expect: { poll: { timeout: 30_000 } },
};

/** They start processes, synthesize stacks, simulate, move megabytes or wait for time-outs: `npm run test:process`. */
export const processTests = [
  'test/as-person/conformance.test.ts',
  'test/automations/hostile-reports.test.ts',
  'test/bench/parts.test.ts',
  'test/cli/{console,deploy,doctor-mutants,end-with-reader,init,mcp-server,proxy,recover-table,test}.test.ts',
  'test/config/config-file.test.ts',
  'test/functions/{account-link-chromium,nonsense,proxy,silent-aws}.test.ts',
  // The table of rights stays in `npm test`: every function that is changed may need it.
  'test/infra/{bounds,bundles,cdk,deploy-role,deployment-policies,network,relay-stack}.test.ts',
  'test/local/{dynamodb,start}.test.ts',
  'test/own/{lint,plan,types}.test.ts',
  'test/package/package.test.ts',
  'test/sandbox/{sandbox,store}.test.ts',
  'test/sandbox/mcp/conformance.test.ts',
  'test/simulation/simulation.test.ts',
  'test/walks/walks.test.ts',
  'test/without-acting.test.ts',
];

/** The tests of both. */
export const everyTest: TestUserConfig & { exclude: string[] } = {
  ...shared,
  include: ['test/**/*.test.ts'],
  exclude: ['test/aws/**', 'test/engines/**', 'test/long/**', 'test/web/**'],
  isolate: false,
  setupFiles: ['test/between-files.ts'],
  // A test waits for sockets and for other processes, never for a time.
  testTimeout: 90_000,
  // They wait for sockets more than for the processor, of which vitest would leave one free.
  maxWorkers: '100%',
};

export default defineConfig({ test: { ...everyTest, exclude: [...everyTest.exclude, ...processTests] } });

import { globSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OWN_FOLDER, readOwnAutomations } from '../lib/automations/own/folder.ts';
import { configFile, loadConfig } from '../lib/config/config-file.ts';
import { counted } from '../lib/text.ts';
import { oneLine } from '../local/terminal.ts';
import type { RelayTest } from '../local/trial/define-tests.ts';
import type { Define } from './cli.ts';

/** `test`: checks what relay.config.ts makes of events, without a relay and without a network. */
export const defineTest: Define = (command) =>
  command
    .arguments('[files...]')
    .description(
      'check what relay.config.ts and the files in automations/ make of events, with the sandbox and without a network; ' +
        'by default all files in relay-tests/ beside it, and automations/*.test.ts. The exit status is 1 if something differs',
    )
    .addHelpText('after', '\n  npm run -s relay -- test\n  npm run -s relay -- test relay-tests/issues.ts')
    .action(async (named: string[]) => {
      // No other command needs the functions and the sandbox.
      const { runTest } = await import('../local/trial/run-test.ts');
      const config = await loadConfig();
      const { own, faults } = await readOwnAutomations(config);
      if (faults.length > 0) throw new Error(faults.join('\n'));
      const folder = join(dirname(configFile()), 'relay-tests');
      const patterns = [join(folder, '*.ts'), join(OWN_FOLDER, '*.test.ts')];
      const files = named.length > 0 ? named.map((file) => resolve(file)) : globSync(patterns).sort();
      const passed: boolean[] = [];
      for (const file of files) {
        console.log(relative(process.cwd(), file));
        for (const [name, test] of Object.entries(await loadTests(file))) {
          // A test that cannot be used fails, and those behind it run all the same.
          const differences = await runTest(test, config, dirname(file), own).catch((error) => [
            `cannot run: ${error.message}`,
          ]);
          console.log(`  ${differences.length === 0 ? '✓' : '✗'} ${oneLine(name)}`);
          for (const line of differences) console.log(`      ${oneLine(line)}`);
          passed.push(differences.length === 0);
        }
      }
      if (passed.length === 0)
        throw new Error(`there are no tests in ${folder}: docs/guides/change-the-configuration.md shows one`);
      const failed = passed.filter((one) => !one).length;
      console.log(
        `\n${counted(passed.length, 'test')}, ${failed === 0 ? 'all as expected' : `${failed} not as expected`}.`,
      );
      if (failed > 0) process.exitCode = 1;
    });

/** @throws {Error} if the file cannot be run, or exports no tests */
async function loadTests(file: string): Promise<Readonly<Record<string, RelayTest>>> {
  const { default: tests } = await import(pathToFileURL(file).href);
  if (typeof tests === 'object' && tests !== null) return tests;
  throw new Error(`${file} exports no tests: it has to contain export default defineTests({ … })`);
}

import { existsSync, globSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CUSTOM_FOLDER } from '../lib/automations/custom/folder.ts';
import { configFile, notRun } from '../lib/config/config-file.ts';
import { counted } from '../lib/text.ts';
import { oneLine } from '../local/terminal.ts';
import type { RelayTest } from '../local/trial/define-tests.ts';
import type { Define } from './cli.ts';
import { printWarnings, readCustomFolder } from './custom-folder.ts';
import { inMarkup } from './markup.ts';
import { printJson } from './print.ts';

/** `test`: checks what events do with relay.config.ts, without a relay and without a network. */
export const define: Define = (command, { readConfig, customFolder = CUSTOM_FOLDER }) =>
  command
    .arguments('[files...]')
    .description(
      'run the tests of relay.config.ts and of automations/ against the sandbox, without a network: by default those in ' +
        'relay.config*.test.ts and automations/*.test.ts. The exit status is 1 if something differs',
    )
    .option('--json', 'as JSON: what differs in each test')
    .option('--junit <file.xml>', 'also write a JUnit report, which CI and code review tools show')
    .addHelpText('after', '\n  npx partner-relay test\n  npx partner-relay test automations/release-note.test.ts')
    .action(async (named: string[], { json, junit }: { json?: boolean; junit?: string }) => {
      // Only this command needs the functions and the sandbox.
      const { runTest } = await import('../local/trial/run-test.ts');
      const config = await readConfig();
      const { custom, faults, files: customFiles } = await readCustomFolder(config, customFolder);
      const folder = dirname(configFile());
      const patterns = [join(folder, 'relay.config*.test.ts'), join(customFolder, '*.test.ts')];
      const isLeftOut = (file: string) => !custom.list.some(({ name }) => name === basename(file, '.ts'));
      const untested = customFiles.filter(isLeftOut).map((file) => file.replace(/\.ts$/, '.test.ts'));
      const files = named.length > 0 ? named.map((file) => resolve(file)) : globSync(patterns).sort();
      const results: Result[] = [];
      const say = json ? () => {} : console.log;
      const add = (file: string, name: string, differences: readonly string[], seconds = 0) => {
        const shown = name === USABLE ? 'cannot be used, so its tests did not run' : name;
        say(`  ${differences.length === 0 ? '✓' : '✗'} ${oneLine(shown)}`);
        for (const line of differences) say(`      ${oneLine(line)}`);
        results.push({ file, name, differences, seconds });
      };
      // A file or a test that cannot be used fails, and the others still run.
      const cannotUse = (file: string, fault: string) => add(file, USABLE, [fault]);
      for (const fault of faults) {
        const [file = ''] = fault.split(':');
        say(file);
        cannotUse(file, fault);
      }
      for (const file of files.filter((one) => !untested.includes(one))) {
        const shown = relative(process.cwd(), file);
        say(shown);
        const tests = await loadTests(file).catch(({ message }: Error) => cannotUse(shown, message));
        for (const [name, test] of Object.entries(tests ?? {})) {
          const startMs = performance.now();
          const differences = await runTest(test, config, dirname(file), custom).catch((error) => [
            `cannot run: ${error.message}`,
          ]);
          add(shown, name, differences, (performance.now() - startMs) / 1_000);
        }
      }
      await printWarnings({ files: customFiles }, say);
      if (results.length === 0)
        throw new Error(`there are no tests in ${folder}: docs/guides/change-the-configuration.md shows one`);
      if (json) printJson(results);
      say(`\n${sumInWords(results)}.`);
      if (junit !== undefined) writeFileSync(junit, junitReport(results));
      if (results.some(hasFailed)) process.exitCode = 1;
    });

interface Result {
  file: string;
  name: string;
  /** Empty if the test passes. */
  differences: readonly string[];
  seconds: number;
}

/** What the result says of a file that cannot be used: its only one, and a failed one. */
const USABLE = 'can be used';

const hasFailed = ({ differences }: Result) => differences.length > 0;

/** `3 tests, 1 not as expected; 1 file cannot be used` */
function sumInWords(results: readonly Result[]): string {
  const tests = results.filter(({ name }) => name !== USABLE);
  const unusable = results.length - tests.length;
  const failed = tests.filter(hasFailed).length;
  const ofTests = `${counted(tests.length, 'test')}, ${failed === 0 ? 'all as expected' : `${failed} not as expected`}`;
  const ofFiles = unusable === 0 ? [] : [`${counted(unusable, 'file')} cannot be used`];
  return [...(tests.length > 0 ? [ofTests] : []), ...ofFiles].join('; ');
}

/** Returns a JUnit report with one suite for each file, as most tools expect it. */
function junitReport(results: readonly Result[]): string {
  const suites = [...Map.groupBy(results, ({ file }) => file)].map(([file, ofFile]) => {
    const cases = ofFile.map(({ name, differences, seconds }) => {
      const [first = '', ...others] = differences.map((line) => inMarkup(oneLine(line)));
      const failure = first && `<failure message="${first}">${[first, ...others].join('\n')}</failure>`;
      const names = `classname="${inMarkup(file)}" name="${inMarkup(oneLine(name))}"`;
      return `    <testcase ${names} time="${seconds.toFixed(3)}">${failure}</testcase>\n`;
    });
    const failures = ofFile.filter(hasFailed).length;
    return `  <testsuite name="${inMarkup(file)}" tests="${ofFile.length}" failures="${failures}">\n${cases.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

/** Loads the tests of a file. @throws {Error} if it cannot be run, or exports no tests */
async function loadTests(file: string): Promise<Readonly<Record<string, RelayTest>>> {
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  const { default: tests } = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new Error(notRun(file, error));
  });
  if (typeof tests === 'object' && tests !== null) return tests;
  throw new Error(`${file} exports no tests: it has to contain export default defineTests({ … })`);
}

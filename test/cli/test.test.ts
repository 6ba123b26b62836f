import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createJunitReader, type Test } from '../../lib/automations/tests-to-scenarios/junit.ts';
import { issueEvent } from '../issue-events.ts';
import { newFolder, withPackage } from '../new-folder.ts';
import { runRelay } from './run-command.ts';

for (const around of [beforeEach, afterEach])
  around(() => {
    process.exitCode = undefined;
  });

const run = (...files: string[]) => runRelay({}, 'test', ...files);

/** Runs one test in its own file. @returns the output without the line of the file */
async function outcomeOf(test: string, payload?: object): Promise<string> {
  const folder = newFolder();
  if (payload) await writeFile(join(folder, 'payload.json'), JSON.stringify(payload));
  const file = join(folder, 'one.ts');
  const defineTests = resolve(import.meta.dirname, '../../local/trial/define-tests.ts');
  const text = `import { defineTests } from '${defineTests}';\nexport default defineTests({ 'a test': ${test} });`;
  await writeFile(file, text);
  const printed = await run(file);
  return printed.slice(printed.indexOf('\n') + 1);
}

const bug = "event: { event: 'issues', labels: ['bug'] }";
const file = "event: { event: 'issues', file: 'payload.json' }";

describe('relay test', () => {
  it("passes with the project's own tests", async () => {
    const printed = await run();
    expect(printed).toMatch(/^relay\.config\.test\.ts$/m);
    expect(printed).toMatch(/\n\d+ tests, all as expected\.$/);
    expect(process.exitCode).toBeUndefined();
  });

  it.each([
    ['a field and a pattern', `{ ${bug}, makes: { 'defects/create': { priority: 'Medium', title: /^Spelling/ } } }`],
    ['an event that is ignored', `{ event: { event: 'issues', labels: ['question'] }, makes: 'nothing' }`],
    ['several requests', `{ event: { body: '/done 101 102' }, makes: { ${items('{ item_id: 102 }, {}')} } }`],
    ['a comment as well', `{ event: { body: '/done 101' }, makes: { ${items('{}')} } }`],
    ['only a comment', `{ event: { body: '/log 45m nope' }, makes: {} }`],
  ])('passes with %s', async (_, test) => {
    expect(await outcomeOf(test)).toBe('  ✓ a test\n\n1 test, all as expected.');
  });

  const CAME = 'type "Bug", priority "Medium", severity "Major", answered with 201';
  const SUCCEEDED = /because {2}the job "Codertocat\/Hello-World#100001 .+" succeeded: created defect/;
  const NO_JOB = 'because  the event made no job: a new issue without the label bug';
  it.each([
    [`{ ${bug}, makes: { 'defects/create': { priority: 'High' } } }`, 'expected defects/create with priority "High"'],
    [`{ ${bug}, makes: { 'defects/create': { type: 'Task' } } }`, CAME],
    [`{ ${bug}, makes: {} }`, 'came     defects/create with'],
    [`{ ${bug}, makes: 'nothing' }`, SUCCEEDED],
    [`{ event: { event: 'issues', labels: [] }, makes: { 'defects/create': {} } }`, NO_JOB],
    [
      `{ event: { event: 'issues', labels: ['question'] }, makes: {} }`,
      /expected a job; write makes: 'nothing' if there should be none\n +because {2}the event made no job: a new issue without the label bug/,
    ],
    [
      `{ event: { body: '/done 101' }, makes: 'nothing' }`,
      /expected no change in the service.*expected no comment\n +came {5}a comment: ✅ Completed checklist item 101/s,
    ],
    [`{ event: { body: '/done 999' }, makes: { ${items('{}')} } }`, 'answered with 404'],
    [`{ event: { body: '/done 101' }, makes: { ${items('{}, {}')} } }`, 'expected work-items/checklist/items/complete'],
    [`{ ${bug}, makes: { 'defect/create': {} } }`, "no operation 'defect/create'; did you mean 'defects/create'?"],
    [`{ ${bug}, makes: { 'defects/update': { titel: 'x' } } }`, "no field 'titel'; did you mean 'title'?"],
    [`{ ${bug}, make: 'nothing' }`, "make: this name is unknown; did you mean 'makes'?"],
    [`{ ${bug} }`, "makes: missing; expected 'nothing' or operations; write makes: {} for none"],
    [`{ event: { evnt: 'push' }, makes: {} }`, "event.evnt: this name is unknown; did you mean 'event'?"],
    [`{ event: { command: 'find x', at: '2026-11-28' }, makes: {} }`, 'event.at: this name is unknown'],
    [`{ event: { event: 'issue' }, makes: 'nothing' }`, "cannot run: there is no example of 'issue'"],
    [
      `{ event: { command: 'find x', by: 'U0NOBODY' }, makes: {} }`,
      'cannot run: Slack has no user U0NOBODY; there are U0MIRA001 (Mira Novak), ',
    ],
    [`{ ${file}, makes: 'nothing' }`, /cannot run: .*payload\.json/],
  ])('reports how %s differs: %s', async (test, said) => {
    const printed = await outcomeOf(test);
    expect(printed).toMatch(/^ {2}✗ a test\n/);
    expect(printed).toMatch(said);
    expect(printed).toContain('1 test, 1 not as expected.');
    expect(process.exitCode).toBe(1);
  });

  it('prints the same as JSON, and as a JUnit report that the relay can read', async () => {
    const folder = newFolder();
    const [file, report] = [join(folder, 'one.ts'), join(folder, 'report.xml')];
    await writeFile(
      file,
      `export default { 'a "good" <test>': { ${bug}, makes: { 'defects/create': {} } }, bad: { ${bug}, makes: {} } };`,
    );
    const came = expect.stringContaining('came     defects/create');
    expect(JSON.parse(await run(file, '--json', '--junit', report))).toMatchObject([
      { file: expect.stringContaining('one.ts'), name: 'a "good" <test>', differences: [] },
      { name: 'bad', differences: ['expected no change in the service', came, expect.stringContaining('because')] },
    ]);
    expect(process.exitCode).toBe(1);
    const found: Test[] = [];
    const reader = createJunitReader(
      (test) => found.push(test),
      () => {},
    );
    const xml = await readFile(report);
    reader.write(xml);
    reader.end();
    expect(found).toMatchObject([
      { name: expect.stringContaining('one.ts.a "good" <test>'), result: 'passed' },
      { name: expect.stringContaining('one.ts.bad'), result: 'failed' },
    ]);
    expect(String(xml)).toContain('tests="2" failures="1"');
  });

  it('reads the payload of a years-old delivery', async () => {
    const opened = issueEvent('opened', { title: 'Years ago' });
    const old = JSON.parse(JSON.stringify(opened).replaceAll('2026-', '2019-'));
    expect(await outcomeOf(`{ ${file}, makes: { 'defects/create': { title: 'Years ago' } } }`, old)).toContain('✓');
    expect(await outcomeOf(`{ ${file}, makes: 'nothing' }`, { ...old, issue: 5 })).toMatch(
      /the issues payload cannot be read: issue: /,
    );
  });

  it('fails for a file that cannot be used, and runs the others', async () => {
    const folder = newFolder();
    const files = {
      'none.ts': 'export const tests = {};',
      'wrong.ts': 'export default {\n  a: { { },\n};',
      'good.ts': `export default { good: { ${bug}, makes: { 'defects/create': {} } } };`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const printed = await run(...['gone.ts', ...Object.keys(files)].map((name) => join(folder, name)));
    expect(printed).toMatch(/gone\.ts does not exist\n/);
    expect(printed).toMatch(/none\.ts exports no tests: /);
    expect(printed).toMatch(/wrong\.ts:2:8: syntax error: Unexpected token/);
    expect(printed).toMatch(/✓ good\n\n1 test, all as expected; 3 files cannot be used\.$/);
    expect(process.exitCode).toBe(1);
  });

  it('names the place of a mistake in an automation, leaves out its tests, and runs the others', async () => {
    const customFolder = newFolder();
    await writeFile(join(customFolder, 'mine.ts'), 'export const on = 1;\n\nexport cnst run = 2;\n');
    await writeFile(join(customFolder, 'mine.test.ts'), `export default { mine: { ${bug}, makes: {} } };`);
    const printed = await runRelay({ customFolder }, 'test');
    const place = "automations/mine.ts:3:8: syntax error: Expected '{', got 'ident'";
    expect(printed).toContain(`automations/mine.ts\n  ✗ cannot be used, so its tests did not run\n      ${place}\n`);
    expect(printed).not.toContain('mine.test.ts');
    expect(printed).toMatch(/relay\.config\.test\.ts\n {2}✓ .*[\s\S]*, all as expected; 1 file cannot be used\.$/);
    expect(process.exitCode).toBe(1);
  });

  it('says once why a job of the team is parked', async () => {
    const customFolder = withPackage(newFolder());
    const on = "command('mine <text…>', { does: 'x', example: 'mine y' })";
    await writeFile(
      join(customFolder, 'mine.ts'),
      `import { command } from 'partner-relay';\nexport const on = ${on};\nexport const run = async () => { throw new Error('oops'); };`,
    );
    await writeFile(
      join(customFolder, 'mine.test.ts'),
      "export default { mine: { event: { command: 'mine y' }, makes: {} } };",
    );
    const printed = await runRelay({ customFolder }, 'test', join(customFolder, 'mine.test.ts'));
    expect(printed).toMatch(/expected no parked job\n {6}because {2}the job ".*" is parked: Error: oops at /);
    expect(printed.match(/oops/g)).toHaveLength(1);
  });
});

function items(requests: string): string {
  return `'work-items/checklist/items/complete': [${requests}]`;
}

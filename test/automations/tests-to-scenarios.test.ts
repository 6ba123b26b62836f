import { beforeEach, describe, expect, it } from 'vitest';
import { takeFailing } from '../../lib/automations/tests-to-scenarios/failing-cases.ts';
import type { TestsConfig } from '../../lib/config/tests.ts';
import { newsOf } from '../../lib/engine/record/job.ts';
import { privateKey } from '../github-identity.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { archiveOf, junit, upload, type WantedRun, type WantedTest, workflowRun } from '../workflow-runs.ts';

const SCENARIO = 'f3c9d5e8-7a14-4d60-9b2f-2e8a1c6b4d01';
const OTHER = 'second-scenario';
const SETTINGS = {
  workflows: ['ci.yml'],
  artifacts: ['junit', 'junit-*'],
  status: { passed: 'passed', failed: 'failed' },
};

let relay: TestRelay;

async function open(tests: Partial<Record<keyof TestsConfig, unknown>> = {}): Promise<void> {
  const config = exampleConfig({}, { tests: { ...SETTINGS, ...tests } as typeof SETTINGS });
  relay = await startRelay({ config, github: { appId: '12', privateKey } });
  const [seeded] = relay.sandbox.data.testScenarios;
  if (seeded) relay.sandbox.data.testScenarios.push({ ...seeded, scenario_id: OTHER });
}
beforeEach(() => open());

/** Delivers the events of a run, from its start to its end. GitHub has all its reports. */
async function ends(wanted: WantedRun): Promise<void> {
  await relay.post('workflow_run', workflowRun(wanted));
  await relay.workToTheEnd();
}
/** Delivers a run with one report. */
async function run(wanted: WantedRun, ...tests: readonly WantedTest[]): Promise<void> {
  await upload(relay.github, wanted.number, junit(...tests));
  await ends(wanted);
}

const statusOf = (id = SCENARIO) =>
  relay.sandbox.data.testScenarios.find(({ scenario_id }) => scenario_id === id)?.status;
const calls = (operation = '/test-scenarios/update') =>
  relay.sandbox.audit.filter(({ endpoint }) => endpoint.endsWith(operation)).length;
const check = () => relay.github.checkRuns.at(-1);
const text = () => check()?.output.summary.replaceAll(/[\\\u200b]/g, '') ?? '';

describe('the runs that count', () => {
  it.each<[string, Partial<WantedRun>]>([
    ['a push to main', {}],
    ['a schedule on main', { event: 'schedule' }],
  ])('the results of %s are sent', async (_, wanted) => {
    await run({ number: 1, conclusion: 'failure', ...wanted }, { scenario: SCENARIO, result: 'failure' });
    expect([statusOf(), calls('')]).toEqual(['failed', 1]);
    expect(check()).toMatchObject({ conclusion: 'neutral', head_sha: expect.stringMatching(/^a{39}1$/) });
    expect(text()).toContain(`Scenario ${SCENARIO}, 0 passed, 1 failed, 0 skipped: sent`);
  });

  it.each<[string, Partial<WantedRun>]>([
    ['a pull request of the repository', { event: 'pull_request', branch: 'topic' }],
    ['a pull request from a branch called main', { event: 'pull_request' }],
    ['a push to another branch', { branch: 'topic' }],
    ["a push to a fork's main", { head: { id: 7 } }],
    ['a push to a fork that is deleted', { head: null }],
    ['a run that a person started', { event: 'workflow_dispatch' }],
  ])('no results of %s are read', async (_, wanted) => {
    await run({ number: 1, conclusion: 'failure', ...wanted }, { scenario: SCENARIO, result: 'failure' });
    const { checkRuns, authorizations } = relay.github;
    expect([statusOf(), calls(''), checkRuns.length, authorizations.size]).toEqual(['draft', 0, 0, 0]);
    expect(await relay.jobs()).toEqual([]);
  });

  it("a pushed tag with the branch's name changes nothing, and creates no defect", async () => {
    relay.github.strayCommits.add(Object(workflowRun({ number: 1 }).workflow_run).head_sha);
    await run({ number: 1, conclusion: 'failure' }, { scenario: SCENARIO, result: 'failure' });
    expect([statusOf(), calls(''), relay.github.checkRuns.length]).toEqual(['draft', 0, 0]);
    expect(await relay.jobs()).toMatchObject([{ outcome: expect.stringContaining('is not on the branch main') }]);
  });

  it.each<[string, Partial<WantedRun> & { action?: string }, string]>([
    ['of another workflow', { file: 'lint.yml' }, 'the workflow lint.yml is not in tests.workflows'],
    ['that was cancelled', { conclusion: 'cancelled' }, 'ended with cancelled'],
    ['that timed out', { conclusion: 'timed_out' }, 'ended with timed_out'],
    ['that has begun', { action: 'in_progress' }, 'in_progress has no results yet'],
  ])('a run %s is ignored', async (_, { action, ...wanted }, why) => {
    const run = workflowRun({ number: 1, ...wanted });
    const { answer } = await relay.post('workflow_run', { ...run, ...(action && { action }) });
    expect(answer).toMatchObject({ jobs: [], ignored: expect.stringContaining(why) });
  });
});

describe('the results that are sent', () => {
  it('a pass is not sent if a shard is missing, even if another shard says why the run failed', async () => {
    const shards = async (number: number, ...reports: string[]) => {
      for (const [index, report] of reports.entries()) await upload(relay.github, number, report, `junit-${index}`);
      const failed = reports.some((report) => report.includes('<failure'));
      await ends({ number, conclusion: failed ? 'failure' : 'success' });
    };
    const [first, second] = [junit({ scenario: SCENARIO }, { scenario: OTHER }), junit({ scenario: OTHER })];
    const red = junit({ scenario: SCENARIO, result: 'failure' }, { scenario: OTHER });
    await shards(1, red);
    expect([statusOf(), statusOf(OTHER)]).toEqual(['failed', 'draft']);
    await shards(2, first, second);
    expect([statusOf(), statusOf(OTHER)]).toEqual(['passed', 'passed']);
    for (const scenario of relay.sandbox.data.testScenarios) scenario.status = 'draft';
    await shards(3, junit({ scenario: OTHER, result: 'failure' }));
    await shards(4, red);
    expect([statusOf(), statusOf(OTHER)]).toEqual(['failed', 'failed']);
    expect(text()).toContain(
      `Scenario ${OTHER}, 1 passed, 0 failed, 0 skipped: not sent: the results of this run are not`,
    );
    await shards(5, red, second);
    expect([statusOf(), statusOf(OTHER)]).toEqual(['failed', 'passed']);
  });

  const verdicts = [
    { number: 1, file: 'ci.yml', conclusion: 'failure' },
    { number: 2, file: 'e2e.yml', conclusion: 'success' },
  ];
  const nextCommit = { number: 3, file: 'e2e.yml', conclusion: 'success', sha: 'b'.repeat(40) };
  it.each([
    ['the failing run ends last', verdicts.toReversed(), 'failed'],
    ['the failing run ends first', verdicts, 'failed'],
    ['a re-run passes', [...verdicts, { number: 1, attempt: 2, file: 'ci.yml', conclusion: 'success' }], 'passed'],
    ['the next commit passes in one of them', [...verdicts, nextCommit], 'passed'],
  ])('any failure among the workflows of a commit counts: %s', async (_, runs, status) => {
    await open({ workflows: ['ci.yml', 'e2e.yml'] });
    for (const { sha = 'a'.repeat(40), ...wanted } of runs as (WantedRun & { sha?: string })[]) {
      await run(
        { ...wanted, sha },
        { scenario: SCENARIO, ...(wanted.conclusion === 'failure' && { result: 'failure' }) },
      );
    }
    expect(statusOf()).toBe(status);
  });

  it('a scenario is sent only when it has changed', async () => {
    await run({ number: 1 }, { scenario: SCENARIO });
    // A person's change in the service stays until then.
    for (const scenario of relay.sandbox.data.testScenarios) scenario.status = 'in review';
    await run({ number: 2 }, { scenario: SCENARIO });
    expect(statusOf()).toBe('in review');
    expect(text()).toContain('not sent: nothing has changed since the last time');
    expect((await relay.jobs()).map(({ outcome }) => outcome)).not.toContainEqual(expect.stringMatching(/: $/));
    await run({ number: 3, conclusion: 'failure' }, { scenario: SCENARIO }, { scenario: SCENARIO, result: 'error' });
    expect([calls(), statusOf()]).toEqual([2, 'failed']);
    await run({ number: 4 }, { scenario: SCENARIO });
    expect([calls(), statusOf()]).toEqual([3, 'passed']);
  });

  it.each([400, 404, 422])('a scenario that is refused with %i does not stop the others', async (status) => {
    const { testScenarios } = relay.sandbox.data;
    if (status === 404)
      testScenarios.splice(
        testScenarios.findIndex(({ scenario_id }) => scenario_id === SCENARIO),
        1,
      );
    else relay.sandbox.setFault({ kind: 'maintenance', status, operation: '/test-scenarios/update', times: 1 });
    await run({ number: 1 }, { scenario: SCENARIO }, { scenario: OTHER });
    expect([statusOf(), statusOf(OTHER)]).toEqual([status === 404 ? undefined : 'draft', 'passed']);
    expect(text()).toContain(`Scenario ${SCENARIO}, 1 passed, 0 failed, 0 skipped: not sent: the service refuses it`);
    expect([check()?.conclusion, await relay.jobs('parked')]).toEqual(['neutral', []]);
  });

  it('all shards of a run make one update of a scenario', async () => {
    await run({ number: 0 }, { scenario: OTHER });
    await upload(relay.github, 1, junit({ scenario: SCENARIO }, { scenario: OTHER }), 'junit-1');
    await upload(relay.github, 1, junit({ scenario: SCENARIO, result: 'failure' }), 'junit-2');
    await upload(relay.github, 1, junit({ scenario: SCENARIO, result: 'failure' }), 'coverage');
    await run({ number: 1, conclusion: 'failure' }, { scenario: SCENARIO });
    expect(calls()).toBe(2);
    expect([statusOf(), statusOf(OTHER)]).toEqual(['failed', 'passed']);
    expect(text()).toContain(`Scenario ${SCENARIO}, 2 passed, 1 failed, 0 skipped: sent`);
  });

  it.each([
    ['an older run that ends late', { number: 1 }],
    ['a re-run of an older run', { number: 1, attempt: 2 }],
  ])('%s changes nothing', async (_, late) => {
    await run({ number: 2, conclusion: 'failure' }, { scenario: SCENARIO, result: 'failure' });
    await run(late, { scenario: SCENARIO });
    expect([calls(), statusOf()]).toEqual([1, 'failed']);
    expect(text()).toContain('not sent: a newer run has results for it');
  });

  it('a re-run takes the newest artifact of each name, and those of jobs that did not run again', async () => {
    await upload(relay.github, 1, junit({ scenario: OTHER }), 'junit-2');
    await run({ number: 1, conclusion: 'failure' }, { scenario: SCENARIO, result: 'failure' });
    await run({ number: 1, attempt: 2 }, { scenario: SCENARIO });
    expect([statusOf(), statusOf(OTHER)]).toEqual(['passed', 'passed']);
    expect(relay.github.checkRuns).toHaveLength(1);
    expect(text()).toContain('2 passed, 0 failed');
  });

  it('an attempt that is delivered after the next one does not change the check', async () => {
    await run({ number: 1, attempt: 2 }, { scenario: SCENARIO });
    const before = text();
    await ends({ number: 1, conclusion: 'failure' });
    expect(text()).toBe(before);
    expect([calls(), statusOf()]).toEqual([1, 'passed']);
  });

  it('a pass is not sent if a part of the results is missing, but a failure is', async () => {
    await run({ number: 1, conclusion: 'failure' }, { scenario: SCENARIO });
    expect([calls(), statusOf()]).toEqual([0, 'draft']);
    expect(text()).toContain('the results of this run are not complete');
    await upload(relay.github, 2, Buffer.from('no archive'), 'junit-2');
    await run({ number: 2, conclusion: 'failure' }, { scenario: SCENARIO, result: 'failure' }, { scenario: OTHER });
    expect([statusOf(), statusOf(OTHER)]).toEqual(['failed', 'draft']);
    expect(text()).toContain('The artifact junit-2 was not used completely: it is not a readable archive.');
  });

  it('coverage beside the reports, and an artifact without XML, are named, but nothing counts as incomplete', async () => {
    const coverage = '<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "coverage-04.dtd"><coverage><a/></coverage>';
    await upload(relay.github, 1, await archiveOf({ 'coverage.xml': coverage }), 'junit-2');
    await upload(relay.github, 1, await archiveOf({ 'index.html': '' }), 'junit-3');
    await run({ number: 1 }, { scenario: SCENARIO });
    expect([calls(), statusOf()]).toEqual([1, 'passed']);
    const said = text().replaceAll('\\', '');
    expect(said).toContain('- coverage.xml: root <coverage>, ignored');
    expect(said).toContain('- junit-3: no XML file');
  });

  it.each([
    ['', '<skipped/>', 'draft'],
    ['status="notrun" result="suppressed"', '', 'draft'],
    ['status="notrun"', '', 'draft'],
    ['status="run" result="suppressed"', '', 'draft'],
    ['status="run" result="skipped"', '', 'draft'],
    ['status="disabled"', '', 'draft'],
    ['status="pending"', '', 'draft'],
    ['disabled="true"', '', 'draft'],
    ['status="run" result="completed"', '', 'passed'],
    ['status="passed"', '', 'passed'],
    ['status="failed"', '', 'failed'],
  ])(
    'a test counts by its result, and a scenario with only skipped tests stays: %s %s',
    async (says, element, status) => {
      const property = `<properties><property name="pm_scenario" value="${SCENARIO}"/></properties>`;
      await upload(
        relay.github,
        1,
        `<testsuite><testcase name="a" ${says}>${property}${element}</testcase></testsuite>`,
      );
      await ends({ number: 1 });
      expect([calls(), statusOf()]).toEqual([status === 'draft' ? 0 : 1, status]);
      expect(text().includes('all of its tests were skipped')).toBe(status === 'draft');
    },
  );
});

describe('the reports of test runners', () => {
  const named = (id = SCENARIO) => `<properties><property name="pm_scenario" value="${id}"/></properties>`;
  const test = (inner = '', name = 'adds') => `<testcase classname="cart" name="${name}">${named()}${inner}</testcase>`;
  const suite = (...inner: string[]) => `<testsuite name="cart">${inner.join('')}</testsuite>`;
  const failure = '<failure message="too slow"/>';
  const [passes, fails, skipped] = [test(), test(failure), test('<skipped/>')];
  const a = suite(passes);
  const another = `<testsuite name="b">${passes}</testsuite>`;
  const noCharacters = '<failure message="&#27;[31m&#0;&nbsp; a & b"/>';
  const declared = (encoding: string, text: string) => `<?xml version="1.0" encoding="${encoding}"?>${text}`;
  const output = (bytes: Uint8Array, declaration = '<?xml version="1.0"?>') =>
    Buffer.concat([
      Buffer.from(`${declaration}<testsuite>${passes}<system-out>`),
      bytes,
      Buffer.from('</system-out></testsuite>'),
    ]);
  const inUtf16 = Buffer.from(`\ufeff${declared('UTF-16', suite(passes))}`, 'utf16le');

  it.each<[string, Record<string, string | Uint8Array>, string, string?]>([
    ['a suite that fails after its tests', { a: suite(passes, '<error message="the data base"/>') }, 'failed'],
    ['a suite that fails without a test', { a: suite(named(), failure) }, 'failed'],
    ['a suite with another one that fails', { a: suite(passes, suite(failure)) }, 'passed'],
    ['a suite that fails around one', { a: suite(suite(passes), failure) }, 'failed'],
    ['a suite with a skipped test that fails', { a: suite(skipped, named(), '<error/>') }, 'failed'],
    ['a failure in the output of a suite', { a: suite(passes, '<system-out><failure/></system-out>') }, 'passed'],
    ['tests that are tried again', { a: suite(fails, fails, skipped, passes) }, 'passed', '1 passed, 0 failed'],
    ['a suite that is tried again', { a: `<testsuites>${suite(fails)}${suite(passes)}</testsuites>` }, 'passed'],
    ['a test that passed and then failed', { a: suite(passes, fails) }, 'failed'],
    ['a test of the same name in another suite', { a: suite(suite(fails), another) }, 'failed'],
    ['a test of the same name in another file', { a: suite(fails), b: suite(passes) }, 'failed'],
    ['tries that Surefire names', { a: suite(test('<flakyFailure/><flakyError/>')) }, 'passed'],
    ['tries in vain that Surefire names', { a: suite(test('<failure/><rerunFailure/>')) }, 'failed'],
    ['references to characters that XML does not have', { a: suite(test(noCharacters)) }, 'failed'],
    ['control characters', { a: output(Buffer.from([27, 91, 51, 49, 109, 0, 8, 255])) }, 'passed'],
    ['one wrong byte', { a: output(Buffer.from([0xe4])) }, 'passed'],
    ['Latin-1', { a: Buffer.from(declared('ISO-8859-1', suite(passes, test(failure, 'fällig'))), 'latin1') }, 'failed'],
    ['UTF-16', { a: inUtf16 }, 'passed'],
    ['UTF-16 of the other order', { a: Buffer.from(inUtf16).swap16() }, 'passed'],
    ['UTF-8 that says that it is UTF-16', { a: declared('utf-16', suite(passes)) }, 'passed'],
    ['an unknown encoding', { a: declared('x-none', suite(passes)) }, 'passed'],
    ['a summary', { a, b: '<failsafe-summary/>' }, 'passed', '- b.xml: root <failsafe-summary>, ignored'],
    ['an empty file', { a, b: '' }, 'passed', '- b.xml: empty, ignored'],
    ['a file without an element', { a, b: '\ufeff<?xml version="1.0"?>\n' }, 'passed', '- b.xml: empty, ignored'],
    ['a page', { a, b: '<!DOCTYPE html><html><br>' }, 'passed', '- b.xml: root <html>, ignored'],
    ['xUnit', { a, b: '<assemblies/>' }, 'passed', 'b.xml: root <assemblies> of xUnit: export JUnit with'],
  ])('are read: %s', async (_, files, status, said = '') => {
    const entries = Object.entries(files).map(([name, content]) => [`${name}.xml`, content] as const);
    await upload(relay.github, 1, await archiveOf(Object.fromEntries(entries)));
    await ends({ number: 1 });
    expect([calls(), statusOf()]).toEqual([1, status]);
    expect(text()).toContain(said);
    expect(text()).not.toContain('Broken');
  });

  it('a test that passed after a failure counts as failed in a failed run, because another test may have its name', async () => {
    await upload(relay.github, 1, suite(fails, passes));
    await ends({ number: 1, conclusion: 'failure' });
    expect(statusOf()).toBe('failed');
  });

  it('a broken report keeps the results found in it, and the files beside it are read', async () => {
    const cut = `<testsuite>${fails}<testcase name="b">`;
    await upload(relay.github, 1, await archiveOf({ 'a.xml': cut, 'b.xml': suite(passes, test('', 'b')) }));
    await ends({ number: 1, conclusion: 'failure' });
    expect([calls(), statusOf(), check()?.conclusion]).toEqual([1, 'failed', 'neutral']);
    expect(text()).toContain('2 passed, 1 failed');
    expect(text()).toContain('- junit: a.xml: it is not readable XML');
  });
});

describe('the mapping of tests to scenarios', () => {
  const coverage = () => relay.sandbox.data.testScenarios[0]?.coverage_percentage;

  it.each<[string, WantedTest[], boolean, number]>([
    ['a percentage', [{ coverage: '84.5' }], true, 84.5],
    ['one that is not configured', [{ coverage: '84.5' }], false, 60],
    ['the same from two tests', [{ coverage: 12 }, { coverage: 12 }, {}], true, 12],
    ['tests that disagree', [{ coverage: 12 }, { coverage: 13 }, { coverage: 12 }], true, 60],
    ['too much', [{ coverage: 101 }], true, 60],
    ['no number', [{ coverage: '1e1' }], true, 60],
  ])('the coverage is sent if it is configured and clear: %s', async (_, tests, configured, expected) => {
    await open({ coverage: configured });
    await run({ number: 1 }, ...tests.map((test) => ({ scenario: SCENARIO, ...test })));
    expect([coverage(), statusOf()]).toEqual([expected, 'passed']);
  });

  it('globs of the configuration give ids to tests without one, but names alone give none', async () => {
    await open({ ids: [{ tests: 'checkout.pays*', scenario: OTHER }] });
    await run(
      { number: 1 },
      { name: 'pays by card' },
      { name: 'pays by voucher', scenario: SCENARIO },
      { name: 'Checkout' },
      { name: 'Pay by card @everyone' },
    );
    expect([statusOf(), statusOf(OTHER), calls()]).toEqual(['passed', 'passed', 2]);
    expect(text()).toContain('Unmapped: 2');
    expect(text()).toContain('- checkout.Checkout\n- checkout.Pay by card @everyone');
    expect(check()?.output.summary).not.toContain('@everyone');
    expect(check()?.conclusion).toBe('neutral');
  });

  it('properties of a suite apply to its tests, unless a test has its own', async () => {
    const report = `<testsuite name="s"><properties><property name="pm_scenario" value="${SCENARIO}"/></properties>
      <testcase name="a"/><testcase name="b"><properties><property name="pm_scenario" value="${OTHER}"/></properties><failure/></testcase>
    </testsuite>`;
    await upload(relay.github, 1, report);
    await ends({ number: 1 });
    expect([statusOf(), statusOf(OTHER)]).toEqual(['passed', 'failed']);
  });

  it('an invalid id is reported, and never sent', async () => {
    await run({ number: 1 }, { scenario: 'a b' }, { scenario: 'x'.repeat(65) });
    expect(calls()).toBe(0);
    expect(text()).toContain('Unreadable: 2');
  });
});

describe('defects for failed tests', () => {
  const CASE = 'b2a4d8f6-1c93-4e57-8a0d-5f6e7c8b9a01';
  const made = () => relay.sandbox.data.defects.filter(({ description }) => description.includes('partner-relay'));
  const failing = (name = 'pays', id: string | number = CASE): WantedTest => ({ name, case: id, result: 'failure' });
  const red = (number: number, ...tests: WantedTest[]) => run({ number, conclusion: 'failure' }, ...tests);

  beforeEach(async () => {
    await open({ defects: { projectId: PROJECT, type: 'Bug', priority: 'High' } });
    relay.sandbox.data.testCases.push({ test_case_id: CASE, project_id: PROJECT, name: 'Pay' });
  });

  it('two failed runs in a row create one defect, linked to its test case', async () => {
    await red(1, failing());
    expect(made()).toEqual([]);
    await red(2, failing());
    await red(3, failing());
    expect(made()).toMatchObject([
      { title: 'Test fails: checkout.pays', type: 'Bug', priority: 'High', project_id: PROJECT, test_case_id: CASE },
    ]);
    const description = made()[0]?.description ?? '';
    expect(description).toMatch(/first failing run: 1, .*\/runs\/9000001\n\s+last failing run: 2, .*\/runs\/9000002/);
    expect(description).toContain('close this defect yourself: Partner Relay does not');
  });

  it.each<[string, () => Promise<void>]>([
    ['a pass in between', async () => run({ number: 2 }, { name: 'pays', case: CASE })],
    ['a run that did not have the test', async () => run({ number: 2 }, { name: 'other', case: 'other' })],
    ['a re-run of the same run', async () => run({ number: 1, attempt: 2, conclusion: 'failure' }, failing())],
    ['an older run that ends late', async () => run({ number: 0, conclusion: 'failure' }, failing())],
  ])('a single failed run creates none: %s', async (what, between) => {
    await red(1, failing());
    await between();
    expect(made()).toEqual([]);
    await red(3, failing());
    expect(made()).toHaveLength(what === 'a pass in between' ? 0 : 1);
  });

  it('a test that passed and then fails twice gets another defect', async () => {
    for (const number of [1, 2]) await red(number, failing());
    await run({ number: 3 }, { name: 'pays', case: CASE });
    for (const number of [4, 5]) await red(number, failing());
    expect(made()).toHaveLength(2);
    expect(made().every(({ status }) => status === 'open')).toBe(true);
  });

  it.each([
    [10, 10],
    [11, 1],
  ])('%i failures of a run create %i defects', async (failures, defects) => {
    const tests = Array.from({ length: failures }, (_, index) => failing(`test ${index}`, index + 1));
    for (const number of [1, 2, 3]) await red(number, ...tests);
    expect(made()).toHaveLength(defects);
    if (defects > 1) return;
    expect(made()[0]).toMatchObject({ title: '11 test cases fail in ci.yml on main', test_case_id: null });
    expect(made()[0]?.description).toContain('- test case 11: checkout.test 10');
  });

  it.each([1, 10, 11])(
    '%i failures create their defects after a single run, however late its job is',
    async (count) => {
      const tests = Array.from({ length: count }, (_, index) => failing(`test ${index}`, index + 1));
      const cases = tests.map(({ name = '', case: id = '' }) => {
        return { kind: 'test case', id, title: name, result: 'failed', tests: 1 } as const;
      });
      const take = (number: number) => {
        const { workflow_run } = workflowRun({ number, conclusion: 'failure' });
        const ended = { ...Object(workflow_run), workflow: 'ci.yml' };
        return takeFailing(relay.stores.table, 'Codertocat/Hello-World', ended, cases, true);
      };
      const due = [await take(1), await take(2), await take(3), await take(2)];
      expect(due.map(({ length }) => length)).toEqual([0, count, 0, count]);
    },
  );

  it('500 failures with the longest names make a job that fits into the table', async () => {
    const tests = Array.from({ length: 500 }, (_, index) => failing('試'.repeat(500), String(index).padStart(64, 'c')));
    for (const number of [1, 2]) {
      await upload(relay.github, number, junit(...tests));
      const event = workflowRun({ number, conclusion: 'failure' });
      const run = {
        ...Object(event.workflow_run),
        html_url: `https://relay.github.example.com/${'r'.repeat(100)}/actions/runs/1`,
      };
      await relay.post('workflow_run', { ...event, workflow_run: run });
      await relay.workToTheEnd();
    }
    expect(made()).toMatchObject([{ title: '500 test cases fail in ci.yml on main' }]);
    const bytes = (await relay.jobs()).map((job) => Buffer.byteLength(JSON.stringify(job)));
    // The limit of an item in DynamoDB is 400 KB.
    expect(Math.max(...bytes)).toBeLessThan(380 * 1024);
  });

  it('a case that the service does not know does not prevent the defect', async () => {
    for (const number of [1, 2]) await red(number, failing('pays', 'unknown'));
    expect(made()).toMatchObject([{ test_case_id: null }]);
    const [job] = (await relay.jobs('succeeded')).filter(({ automation }) => automation === 'failing-tests-to-defect');
    expect(job?.outcome).toContain('but the service does not link it');
  });

  it('a failure without a case or a step creates none, and a step is linked', async () => {
    for (const number of [1, 2])
      await red(number, { scenario: SCENARIO, result: 'failure' }, { step: 2, result: 'failure' });
    expect(made()).toMatchObject([{ test_step_id: 2, test_case_id: null }]);
  });

  it('a test that failed and was retried in two successful runs creates none', async () => {
    for (const number of [1, 2]) await run({ number }, failing(), { name: 'pays', case: CASE });
    expect(made()).toEqual([]);
  });

  it('without the setting, there are none', async () => {
    await open();
    for (const number of [1, 2]) await red(number, failing());
    expect(made()).toEqual([]);
  });
});

describe('GitHub', () => {
  it('waits for a missing artifact, and says if none comes', async () => {
    await relay.post('workflow_run', workflowRun({ number: 1 }));
    relay.clock.now = Date.parse('2026-11-20T09:55:10Z');
    await relay.work();
    expect((await relay.jobs('waiting')).map(newsOf)).toEqual(['the artifact is not there yet']);
    await upload(relay.github, 1, junit({ scenario: SCENARIO }));
    await relay.workToTheEnd();
    expect(statusOf()).toBe('passed');
    await ends({ number: 2 });
    expect(check()).toMatchObject({ conclusion: 'neutral', output: { title: 'No test results' } });
    expect(text()).toContain('no artifact whose name is in `tests.artifacts`');
  });

  it.each([
    [{ status: 403, message: 'Resource not accessible by integration' }, 'parked', /"Contents: read"/],
    [{ status: 429, message: 'slow', headers: { 'retry-after': '60' } }, 'waiting', /fewer requests/],
    [{ status: 502, message: 'bad gateway' }, 'waiting', /502/],
  ] as const)('a refusal parks the job or makes it wait: %j', async (refusal, status, why) => {
    await upload(relay.github, 1, junit({ scenario: SCENARIO }));
    await relay.post('workflow_run', workflowRun({ number: 1 }));
    relay.github.refusal = refusal;
    await relay.work();
    const [job] = await relay.jobs(status);
    expect(job && newsOf(job)).toMatch(why);
  });
});

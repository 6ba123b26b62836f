import { type TestsConfig, testId } from '../../config/tests.ts';
import type { RelationTarget } from '../../target.ts';
import { cutToBytes, isLike } from '../../text.ts';
import type { Test } from './junit.ts';

export interface ScenarioResult {
  id: string | number;
  passed: number;
  failed: number;
  skipped: number;
  /** From 0 to 100; `several` if the tests disagree. */
  coverage?: number | 'several';
}

/** The result of a test case's tests, or of a test step's tests that name no case. */
export interface CaseResult extends RelationTarget {
  kind: 'test case' | 'test step';
  result: 'passed' | 'failed';
  /** How many tests were run. */
  tests: number;
  /** The name of the first failed test. */
  title: string;
}

/** Returns, for example, `test case 12`. */
export const keyOf = ({ kind, id }: RelationTarget) => `${kind} ${id}`;

/** How many entries there are, and the first few. */
export interface Listed {
  count: number;
  first: string[];
}

/** The results of a run. Everything is limited, because the results are stored as a step. */
export interface Results {
  tests: Record<Test['result'], number>;
  scenarios: ScenarioResult[];
  cases: CaseResult[];
  /** Tests that name nothing. */
  unmapped: Listed;
  /** Properties with values that are not ids or percentages. */
  unreadable: Listed;
  /** XML files that are not test reports, and artifacts without any. */
  ignored: Listed;
  /** Reports that could not be read to their end. */
  broken?: Listed;
  /** How many results exceeded the limits for scenarios and cases. */
  leftOut: number;
}

const MOST_SCENARIOS = 200;
const MOST_CASES = 500;
const SHOWN = 20;
/** Short enough that 500 titles, with two runs each, fit into a table item. */
const TITLE_BYTES = 150;

const NOTHING: Results = {
  tests: { passed: 0, failed: 0, skipped: 0 },
  scenarios: [],
  cases: [],
  unmapped: { count: 0, first: [] },
  unreadable: { count: 0, first: [] },
  ignored: { count: 0, first: [] },
  leftOut: 0,
};

/**
 * Counts the tests of a run for each id of the service. Names are never compared with names in the service.
 * @param before the earlier results, which stay unchanged
 */
export function createTally(ids: TestsConfig['ids'], before: Results = NOTHING) {
  const { scenarios: scenariosBefore, cases: casesBefore, ...found } = structuredClone(before);
  const scenarios = new Map(scenariosBefore.map((one) => [String(one.id), one]));
  const cases = new Map(casesBefore.map((one) => [keyOf(one), one]));
  const results = (): Results => ({ ...found, scenarios: [...scenarios.values()], cases: [...cases.values()] });
  const count = () => found.tests.passed + found.tests.failed + found.tests.skipped;
  function noteFile(list: 'ignored' | 'broken', what: string): void {
    found[list] ??= { count: 0, first: [] };
    note(found[list], what);
  }
  return { add, noteFile, count, results };

  function add(test: Test): void {
    found.tests[test.result]++;
    const given = ids.find(({ tests }) => isLike(test.name, tests) || isLike(test.file, tests));
    function of(what: 'scenario' | 'case' | 'step') {
      const own = (test.properties.get(`pm_${what}`) ?? []).filter(isId);
      return own.length > 0 || given?.[what] === undefined ? own : [given[what]];
    }
    const [scenarios, cases, steps] = [of('scenario'), of('case'), of('step')];
    for (const id of scenarios) addToScenario(id, test);
    for (const id of cases) addToCase({ kind: 'test case', id }, test);
    // A defect is linked to the test case or to the test step, not to both.
    for (const id of cases.length > 0 ? [] : steps) addToCase({ kind: 'test step', id }, test);
    if (scenarios.length + cases.length + steps.length === 0) note(found.unmapped, test.name);
  }

  function addToScenario(id: string | number, { result, properties }: Test): void {
    const known = scenarios.get(String(id));
    if (!known && scenarios.size === MOST_SCENARIOS) return void found.leftOut++;
    const scenario = known ?? { id, passed: 0, failed: 0, skipped: 0 };
    scenarios.set(String(id), scenario);
    scenario[result]++;
    const coverage = percentage(properties.get('pm_coverage')?.at(-1));
    if (coverage !== undefined) scenario.coverage = (scenario.coverage ?? coverage) === coverage ? coverage : 'several';
  }

  function addToCase(target: Pick<CaseResult, 'kind' | 'id'>, { name, result }: Test): void {
    const known = cases.get(keyOf(target));
    if (result === 'skipped') return;
    if (known) known.tests++;
    if (known?.result === 'failed' || known?.result === result) return;
    if (!known && cases.size === MOST_CASES) return void found.leftOut++;
    const tests = known?.tests ?? 1;
    cases.set(keyOf(target), { ...target, result, tests, title: cutToBytes(name, TITLE_BYTES, '…') });
  }

  function isId(text: string): boolean {
    return testId.test(text) || note(found.unreadable, text);
  }

  function percentage(text: string | undefined): number | undefined {
    const isOne = text !== undefined && /^\d{1,3}(\.\d{1,6})?$/.test(text) && Number(text) <= 100;
    if (text !== undefined && !isOne) note(found.unreadable, text);
    return isOne ? Number(text) : undefined;
  }
}

function note(list: Listed, text: string): false {
  list.count++;
  const short = list.first.length < SHOWN ? cutToBytes(text, TITLE_BYTES, '…') : undefined;
  if (short !== undefined && !list.first.includes(short)) list.first.push(short);
  return false;
}

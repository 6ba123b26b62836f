import { type TestsConfig, testId } from '../../config/tests.ts';
import { idFromText } from '../../service/partner/operation.ts';
import type { Target } from '../../target.ts';
import { isLike } from '../../wildcard.ts';
import type { Test } from './junit.ts';

/** What the tests of a scenario came to. */
export interface ScenarioResult {
  id: string | number;
  passed: number;
  failed: number;
  skipped: number;
  /** From 0 to 100. `several` if its tests disagree. */
  coverage?: number | 'several';
  /** Whether a test names it, and not only the configuration. */
  isNamed: boolean;
}

/** What the tests of a test case came to, or those of a test step without a case. */
export interface CaseResult extends Target {
  kind: 'test case' | 'test step';
  result: 'passed' | 'failed';
  /** The name of the first of them that failed. */
  title: string;
}

/** `test case 12` */
export const keyOf = ({ kind, id }: Target) => `${kind} ${id}`;

/** How many there are, and the first few. */
export interface Listed {
  count: number;
  first: string[];
}

/** The results of a run. Everything has a bound, for a step of the journal holds it. */
export interface Results {
  tests: Record<Test['result'], number>;
  scenarios: ScenarioResult[];
  cases: CaseResult[];
  /** The tests that name nothing. */
  unmapped: Listed;
  /** The properties that are no ids, or no percentages. */
  unreadable: Listed;
  /** How many results are left out because there are too many scenarios or cases. */
  leftOut: number;
}

const MOST_SCENARIOS = 200;
const MOST_CASES = 500;
const SHOWN = 20;
const TITLE_LENGTH = 150;

/** Adds up the tests of a run by the ids of the service that they stand for. Names are never compared with anything. */
export function createTally(ids: TestsConfig['ids']) {
  const tests = { passed: 0, failed: 0, skipped: 0 };
  const scenarios = new Map<string, ScenarioResult>();
  const cases = new Map<string, CaseResult>();
  const unmapped: Listed = { count: 0, first: [] };
  const unreadable: Listed = { count: 0, first: [] };
  let leftOut = 0;
  const results = (): Results => {
    return { tests, scenarios: [...scenarios.values()], cases: [...cases.values()], unmapped, unreadable, leftOut };
  };
  return { add, results };

  function add(test: Test): void {
    tests[test.result]++;
    const given = ids.find(({ tests }) => isLike(test.name, tests) || isLike(test.file, tests));
    const named = (what: string) => (test.properties.get(`pm_${what}`) ?? []).filter(isId).map(idFromText);
    function of(what: 'scenario' | 'case' | 'step') {
      const own = named(what);
      return own.length > 0 || given?.[what] === undefined ? own : [given[what]];
    }
    const found = { scenarios: of('scenario'), cases: of('case'), steps: of('step') };
    const isNamed = test.properties.has('pm_scenario');
    for (const id of found.scenarios) addToScenario(id, test, isNamed);
    for (const id of found.cases) addToCase({ kind: 'test case', id }, test);
    // A defect is linked to one of the two.
    for (const id of found.cases.length > 0 ? [] : found.steps) addToCase({ kind: 'test step', id }, test);
    if (Object.values(found).flat().length === 0) note(unmapped, test.name);
  }

  function addToScenario(id: string | number, { result, properties }: Test, isNamed: boolean): void {
    const known = scenarios.get(String(id));
    if (!known && scenarios.size === MOST_SCENARIOS) return void leftOut++;
    const found = known ?? { id, passed: 0, failed: 0, skipped: 0, isNamed };
    found[result]++;
    const coverage = percentage(properties.get('pm_coverage')?.at(-1));
    if (coverage !== undefined) found.coverage = (found.coverage ?? coverage) === coverage ? coverage : 'several';
    scenarios.set(String(id), { ...found, isNamed: found.isNamed || isNamed });
  }

  function addToCase(target: Pick<CaseResult, 'kind' | 'id'>, { name, result }: Test): void {
    const known = cases.get(keyOf(target));
    if (result === 'skipped' || known?.result === 'failed' || known?.result === result) return;
    if (!known && cases.size === MOST_CASES) return void leftOut++;
    cases.set(keyOf(target), { ...target, result, title: name.slice(0, TITLE_LENGTH) });
  }

  function isId(text: string): boolean {
    if (!testId.test(text)) note(unreadable, text);
    return testId.test(text);
  }

  function percentage(text: string | undefined): number | undefined {
    if (text === undefined) return undefined;
    if (/^\d{1,3}(\.\d{1,6})?$/.test(text) && Number(text) <= 100) return Number(text);
    note(unreadable, text);
    return undefined;
  }
}

function note(list: Listed, text: string): void {
  list.count++;
  const short = text.slice(0, TITLE_LENGTH);
  if (list.first.length < SHOWN && !list.first.includes(short)) list.first.push(short);
}

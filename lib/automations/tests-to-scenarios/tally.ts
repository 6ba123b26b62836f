import { type TestsConfig, testId } from '../../config/tests.ts';
import { idFromText } from '../../service/partner/operation.ts';
import { isLike } from '../../wildcard.ts';
import type { Test } from './junit.ts';

type Id = string | number;

/** What the tests of a scenario came to. */
export interface ScenarioResult {
  id: Id;
  passed: number;
  failed: number;
  skipped: number;
  /** From 0 to 100. `several` if its tests disagree. */
  coverage?: number | 'several';
  /** Whether a test names it, and not only the configuration. */
  isNamed: boolean;
}

/** What the tests of a test case came to, or those of a test step without a case. */
export interface CaseResult {
  kind: 'test case' | 'test step';
  id: Id;
  result: 'passed' | 'failed';
  /** The name of the first of them that failed. */
  title: string;
}

/** `test case 12` */
export const keyOf = ({ kind, id }: Pick<CaseResult, 'kind' | 'id'>) => `${kind} ${id}`;

/** The results of a run. Everything has a bound, for a step of the journal holds it. */
export interface Results {
  tests: { passed: number; failed: number; skipped: number };
  scenarios: ScenarioResult[];
  cases: CaseResult[];
  unmapped: { count: number; first: string[] };
  /** Properties that are no ids, and percentages that are none. */
  unreadable: { count: number; first: string[] };
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
  const unmapped = { count: 0, first: [] as string[] };
  const unreadable = { count: 0, first: [] as string[] };
  let leftOut = 0;

  return { add, results };

  function add(test: Test): void {
    tests[test.result]++;
    const named = (what: string) =>
      (test.properties.get(`pm_${what}`) ?? []).filter((text) => isId(text)).map(idFromText);
    const own = { scenario: named('scenario'), case: named('case'), step: named('step') };
    const given = ids.find(({ tests }) => isLike(test.name, tests) || isLike(test.file ?? '', tests));
    const of = (what: 'scenario' | 'case' | 'step'): readonly Id[] =>
      own[what].length > 0 || given?.[what] === undefined ? own[what] : [given[what]];
    for (const id of of('scenario')) addToScenario(id, test, own.scenario.length > 0);
    const [cases, steps] = [of('case'), of('step')];
    for (const id of cases) addToCase('test case', id, test);
    // A defect is linked to one of the two.
    for (const id of cases.length > 0 ? [] : steps) addToCase('test step', id, test);
    if (of('scenario').length + cases.length + steps.length > 0) return;
    note(unmapped, test.name);
  }

  function addToScenario(id: Id, { result, properties }: Test, isNamed: boolean): void {
    const key = String(id);
    const found = scenarios.get(key) ?? { id, passed: 0, failed: 0, skipped: 0, isNamed: false };
    if (!scenarios.has(key) && scenarios.size === MOST_SCENARIOS) return void leftOut++;
    found[result]++;
    found.isNamed ||= isNamed;
    const coverage = percentage(properties);
    if (coverage !== undefined) found.coverage = (found.coverage ?? coverage) === coverage ? coverage : 'several';
    scenarios.set(key, found);
  }

  function addToCase(kind: CaseResult['kind'], id: Id, { name, result }: Test): void {
    if (result === 'skipped') return;
    const key = keyOf({ kind, id });
    const found = cases.get(key);
    if (found?.result === 'failed' || (found && result === 'passed')) return;
    if (!found && cases.size === MOST_CASES) return void leftOut++;
    cases.set(key, { kind, id, result, title: name.slice(0, TITLE_LENGTH) });
  }

  function isId(text: string): boolean {
    if (testId.test(text)) return true;
    note(unreadable, text);
    return false;
  }

  function percentage(properties: Test['properties']): number | undefined {
    const text = properties.get('pm_coverage')?.at(-1);
    if (text === undefined) return undefined;
    const value = /^\d{1,3}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    if (value <= 100) return value;
    note(unreadable, text);
    return undefined;
  }

  function results(): Results {
    return {
      tests,
      scenarios: [...scenarios.values()],
      cases: [...cases.values()],
      unmapped,
      unreadable,
      leftOut,
    };
  }
}

function note(list: { count: number; first: string[] }, text: string): void {
  list.count++;
  const short = text.slice(0, TITLE_LENGTH);
  if (list.first.length < SHOWN && !list.first.includes(short)) list.first.push(short);
}

import { isDeepStrictEqual } from 'node:util';
import { keys } from '../../state/table/keys.ts';
import { type Table } from '../../state/table/table.ts';
import type { WorkflowRun } from './draft.ts';

/** What a scenario is to look like: the fields of `test-scenarios/update`. */
export interface ScenarioFields {
  status: string;
  coverage_percentage?: number;
}

/**
 * The place of a run among all runs: a re-run comes after its run, and before the run that was created next, whenever
 * each of them ends. Sorts as text.
 */
export function placeOf({ createdAt, id, attempt }: WorkflowRun): string {
  const padded = [createdAt, id, attempt].map((part) => String(part).padStart(16, '0'));
  return padded.join('-');
}

/** What the service was told of a scenario. */
interface ScenarioState {
  /** The newest run that had results of it. */
  place: string;
  /** What was accepted last, the run that it came from, and how many updates were accepted in all. */
  told?: ScenarioFields;
  toldBy?: string;
  times: number;
  /** What an update without an answer may still change, and until when. Without fields, there were several. */
  doubt?: { until: number; fields?: ScenarioFields };
  turn: number;
}

/** What is to be done about a scenario for a run. */
export type NextOfScenario =
  | { does: 'nothing'; why: 'sent' | 'as before' | 'newer' }
  | { does: 'wait'; until: number }
  /** `times` names the update. */
  | { does: 'send'; times: number };

export interface ScenarioStates {
  next(scenario: string, place: string, fields: ScenarioFields): Promise<NextOfScenario>;
  /** An update is about to leave, and may arrive until then. @returns false if a newer run has come meanwhile */
  begin(scenario: string, place: string, fields: ScenarioFields, until: number): Promise<boolean>;
  /** How the update ended that was begun last in this process. */
  end(scenario: string, place: string, fields: ScenarioFields, ended: 'accepted' | 'refused'): Promise<void>;
}

/**
 * What the service was told of each scenario, so that it is told only what changed, and an old run that ends late never
 * overwrites a newer one.
 */
export function createScenarioStates(table: Table, clock: () => number, connection: string): ScenarioStates {
  /** What was in doubt before the update that this process sends. */
  const doubts = new Map<string, ScenarioState['doubt']>();

  async function read(scenario: string): Promise<ScenarioState | undefined> {
    const item = await table.get(keys.testScenario(connection, scenario));
    if (!item) return undefined;
    const { pk, sk, ...state } = item;
    return state as unknown as ScenarioState;
  }

  /** @returns undefined if a newer run has come, or the transition has nothing to change */
  async function change(
    scenario: string,
    place: string,
    transition: (state: ScenarioState) => ScenarioState,
  ): Promise<ScenarioState | undefined> {
    for (;;) {
      const state = await read(scenario);
      if (state && state.place > place) return undefined;
      const turn = state?.turn ?? 0;
      const next = { ...transition(state ?? { place, times: 0, turn }), place, turn: turn + 1 };
      const condition =
        turn === 0
          ? { expression: 'attribute_not_exists(#pk)' }
          : { expression: '#turn = :turn', values: { turn } };
      if (await table.put({ ...keys.testScenario(connection, scenario), ...next }, condition)) return next;
    }
  }

  return {
    async next(scenario, place, fields) {
      const state = await read(scenario);
      if (!state) return { does: 'send', times: 0 };
      if (state.place > place) return { does: 'nothing', why: 'newer' };
      const { told, toldBy, times, doubt } = state;
      const isDoubtful = doubt !== undefined && !isDeepStrictEqual(doubt.fields, fields);
      if (!isDeepStrictEqual(told, fields) || (isDoubtful && doubt.until <= clock())) return { does: 'send', times };
      if (isDoubtful) return { does: 'wait', until: doubt.until };
      if (toldBy === place) return { does: 'nothing', why: 'sent' };
      await change(scenario, place, (state) => state);
      return { does: 'nothing', why: 'as before' };
    },
    async begin(scenario, place, fields, until) {
      const begun = await change(scenario, place, ({ told, toldBy, ...state }) => {
        const before = state.doubt && state.doubt.until > clock() ? state.doubt : undefined;
        doubts.set(scenario, before);
        const isSame = before === undefined || isDeepStrictEqual(before.fields, fields);
        return { ...state, doubt: { until: Math.max(until, before?.until ?? 0), ...(isSame && { fields }) } };
      });
      return begun !== undefined;
    },
    async end(scenario, place, fields, ended) {
      const before = doubts.get(scenario);
      await change(scenario, place, ({ doubt, ...state }) => ({
        ...state,
        ...(before && { doubt: before }),
        ...(ended === 'accepted' && { told: fields, toldBy: place, times: state.times + 1 }),
      }));
    },
  };
}

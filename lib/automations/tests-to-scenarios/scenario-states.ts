import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { storedTime } from '../../state/table/unreadable-item.ts';
import { createCountedItems } from './counted-item.ts';
import type { WorkflowRun } from './draft.ts';

const scenarioFields = z.object({ status: z.string(), coverage_percentage: z.optional(z.number()) });

/** What a scenario is to look like: the fields of `test-scenarios/update`. */
export type ScenarioFields = z.output<typeof scenarioFields>;

/**
 * The place of a run among all runs: a re-run comes after its run, and before the run that was created next, whenever
 * each of them ends. Sorts as text.
 */
export function placeOf({ createdAt, id, attempt }: WorkflowRun): string {
  return [createdAt, id, attempt].map((part) => String(part).padStart(16, '0')).join('-');
}

const scenarioState = z.object({
  /** Of the newest run that had results of the scenario. */
  place: z.string(),
  /** What was accepted last, and from which run it came. */
  told: z.optional(scenarioFields),
  toldBy: z.optional(z.string()),
  /** How many updates were accepted. */
  times: z.int(),
  /** What an update without an answer may still set, and until when; without fields, there were several. */
  doubt: z.optional(z.object({ until: storedTime, fields: z.optional(scenarioFields) })),
});
type ScenarioState = z.output<typeof scenarioState>;

/** What is to be done about a scenario for a run. */
export type NextOfScenario =
  | { does: 'nothing'; why: 'sent' | 'as before' | 'newer' }
  | { does: 'wait'; until: number }
  /** `times` names the update. */
  | { does: 'send'; times: number };

/** An update that is about to leave, and how it ended. */
export interface ScenarioUpdate {
  /** @param until when the service refuses it at the latest @returns false if a newer run has come */
  leaves(until: number): Promise<boolean>;
  ended(how: 'accepted' | 'refused'): Promise<void>;
}

export interface ScenarioStates {
  next(scenario: string, place: string, fields: ScenarioFields): Promise<NextOfScenario>;
  update(scenario: string, place: string, fields: ScenarioFields): ScenarioUpdate;
}

/**
 * What the service was told of each scenario, so that it is told only what changed, and an old run that ends late never
 * overwrites a newer one.
 */
export function createScenarioStates(table: Table, clock: () => number, connection: string): ScenarioStates {
  const items = createCountedItems(table, scenarioState);
  const keyOf = (scenario: string) => keys.testScenario(connection, scenario);

  /** Changes the state unless a newer run has come. */
  function change(scenario: string, place: string, transition: (state: ScenarioState) => ScenarioState) {
    return items.change(keyOf(scenario), (state = { place, times: 0 }) =>
      state.place > place ? undefined : { ...transition(state), place },
    );
  }

  return {
    async next(scenario, place, fields) {
      const { place: newest = place, told, toldBy, times = 0, doubt } = (await items.get(keyOf(scenario))) ?? {};
      if (newest > place) return { does: 'nothing', why: 'newer' };
      const isDoubtful = doubt !== undefined && !isDeepStrictEqual(doubt.fields, fields);
      if (!isDeepStrictEqual(told, fields) || (isDoubtful && doubt.until <= clock())) return { does: 'send', times };
      if (isDoubtful) return { does: 'wait', until: doubt.until };
      if (toldBy === place) return { does: 'nothing', why: 'sent' };
      await change(scenario, place, (state) => state);
      return { does: 'nothing', why: 'as before' };
    },
    update(scenario, place, fields) {
      /** What was in doubt before; nothing is known of it where an earlier process began the update. */
      let before: ScenarioState['doubt'] | 'unknown' = 'unknown';
      return {
        async leaves(until) {
          const begun = await change(scenario, place, ({ told, toldBy, ...state }) => {
            const known = state.doubt && state.doubt.until > clock() ? state.doubt : undefined;
            before = known;
            const isSame = !known || isDeepStrictEqual(known.fields, fields);
            return { ...state, doubt: { until: Math.max(until, known?.until ?? 0), ...(isSame && { fields }) } };
          });
          return begun !== undefined;
        },
        async ended(how) {
          await change(scenario, place, ({ doubt, ...state }) => ({
            ...state,
            doubt: before === 'unknown' ? doubt : before,
            ...(how === 'accepted' && { told: fields, toldBy: place, times: state.times + 1 }),
          }));
        },
      };
    },
  };
}

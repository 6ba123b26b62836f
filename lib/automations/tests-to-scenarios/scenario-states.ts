import { isDeepStrictEqual as isEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Fence } from '../../engine/run/partner-calls.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { storedTime } from '../../state/table/unreadable-item.ts';
import { changeItem } from './counted-item.ts';
import type { WorkflowRun } from './draft.ts';

const scenarioFields = z.object({ status: z.string(), coverage_percentage: z.optional(z.number()) });

/** What a scenario is to look like: the fields of `test-scenarios/update`. */
export type ScenarioFields = z.output<typeof scenarioFields>;

/** Orders runs as text by their creation. A re-run comes before the run that was created next. */
export function orderOf({ created_at, id, run_attempt }: WorkflowRun): string {
  return [Date.parse(created_at), id, run_attempt].map((part) => String(part).padStart(16, '0')).join('-');
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

/** What became of the results of a scenario, or until when it has to wait to send them again. */
export type ScenarioFate = 'sent' | 'as before' | 'newer' | { until: number };

/**
 * Sends the fields of a scenario unless they were sent before. An old run that ends late never overwrites a newer one.
 *
 * @param until when the service refuses at the latest what is sent now
 * @param send sends one update, by its name
 */
export async function sendScenario(
  { table, clock, connection }: { table: Table; clock: () => number; connection: string },
  { scenario, place, fields }: { scenario: string; place: string; fields: ScenarioFields },
  until: number,
  send: (step: string, fence: Fence) => Promise<void>,
): Promise<ScenarioFate> {
  /** Changes the state unless a newer run has come. */
  function change(transition: (state: ScenarioState) => ScenarioState) {
    return changeItem(table, keys.testScenario(connection, scenario), scenarioState, (state = { place, times: 0 }) =>
      state.place > place ? undefined : { ...transition(state), place },
    );
  }
  for (;;) {
    const state = await change((state) => state);
    if (!state) return 'newer';
    const { told, toldBy, times, doubt } = state;
    const isDoubtful = doubt !== undefined && !isEqual(doubt.fields, fields);
    const isOver = isDoubtful && doubt.until <= clock();
    if (isEqual(told, fields) && !isOver) return isDoubtful ? doubt : toldBy === place ? 'sent' : 'as before';
    // Nothing is known of it where an earlier process began the update.
    let before: ScenarioState['doubt'] | 'unknown' = 'unknown';
    const end = (accepted: Partial<ScenarioState>) =>
      change(({ doubt, ...state }) => ({ ...state, doubt: before === 'unknown' ? doubt : before, ...accepted }));
    await send(`scenario ${scenario} ${times + 1}`, {
      async leaves() {
        const begun = await change(({ told, toldBy, ...state }) => {
          const open = state.doubt && state.doubt.until > clock() ? state.doubt : undefined;
          before = open;
          const isSame = !open || isEqual(open.fields, fields);
          return { ...state, doubt: { until: Math.max(until, open?.until ?? 0), ...(isSame && { fields }) } };
        });
        return begun !== undefined;
      },
      refused: async () => void (await end({})),
    });
    await end({ told: fields, toldBy: place, times: times + 1 });
  }
}

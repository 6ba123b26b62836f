import { isDeepStrictEqual as isEqual } from 'node:util';
import * as z from 'zod/mini';
import { executableUntil } from '../../service/partner/signed-request.ts';
import { changeItem } from '../../state/table/counted-item.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { storedTime } from '../../state/table/unreadable-item.ts';
import type { Job } from '../record/job.ts';
import type { Fence } from './partner-calls.ts';

/**
 * Until when the service may carry out what this run of a job sends, in epoch milliseconds: a run signs nothing after
 * its lease has ended.
 */
export const mayArriveUntil = ({ lease }: Job, now: number) => executableUntil(lease?.until ?? now);

/**
 * What may be set by several requests, such as the status of a test scenario. The newest request wins, whatever arrives
 * late: once nothing is under way, the service has its value, unless the service refused it or somebody else changed it.
 */
const stateShape = z.object({
  /** The place of the newest request. */
  place: z.string(),
  /** The value that the service accepted last, and the request that it came from. */
  told: z.optional(z.unknown()),
  toldBy: z.optional(z.string()),
  /** How many values were accepted. */
  times: z.int(),
  /** What a call without an answer may still set, and until when; without a value, there were several. */
  doubt: z.optional(z.object({ until: storedTime, value: z.optional(z.unknown()) })),
});
type State = z.output<typeof stateShape>;

/** A request to set a value. */
export interface Setting {
  /** What is set: its kind, and its id there. */
  kind: string;
  id: string;
  /** Sorts as text: the request with the last place is the newest. No two requests have the same. */
  place: string;
  value: boolean | number | string | object;
  /** Whether a value that the service accepted from an earlier request is not sent again. */
  unlessTold?: boolean;
}

/**
 * - `as before`: an earlier request had set the same
 * - `newer`: a newer request sets it, or has set it
 * - `refused`: the service refuses it, with the reason that `send` returned
 * - `until`: it is set, but an older call may still be carried out until then, in epoch milliseconds. It has to be set
 *   again after that
 */
export type Fate = 'sent' | 'as before' | 'newer' | { refused: string } | { until: number };

/**
 * Sets a value unless a newer request has come.
 *
 * @param send sets it with `steps.set`, in a step of its own for each number. It returns why the service refuses it, or null
 */
export async function setNewest(
  { table, clock }: { table: Table; clock: () => number },
  job: Job,
  { kind, id, place, value, unlessTold = false }: Setting,
  send: (number: number, fence: Fence) => Promise<string | null>,
): Promise<Fate> {
  /** Changes the state unless a newer request has come. */
  function change(transition: (state: State) => State) {
    return changeItem(table, keys.newest(job.connection, kind, id), stateShape, (state = { place, times: 0 }) =>
      state.place > place ? undefined : { ...transition(state), place },
    );
  }
  for (;;) {
    const state = await change((state) => state);
    if (!state) return 'newer';
    const { told, toldBy, times, doubt } = state;
    const isDoubtful = doubt !== undefined && !isEqual(doubt.value, value);
    const isOver = isDoubtful && doubt.until <= clock();
    const isTold = isEqual(told, value) && (toldBy === place || unlessTold);
    if (isTold && !isOver) return isDoubtful ? { until: doubt.until } : toldBy === place ? 'sent' : 'as before';
    // What this call noted, and what it replaced. Another run of the job may have noted a call of its own since.
    let noted: State['doubt'];
    let before: State['doubt'];
    const end = (accepted: Partial<State>) =>
      change(({ doubt, ...state }) => ({ ...state, doubt: isEqual(doubt, noted) ? before : doubt, ...accepted }));
    const refused = await send(times + 1, {
      async begin() {
        const begun = await change(({ told, toldBy, ...state }) => {
          const open = state.doubt && state.doubt.until > clock() ? state.doubt : undefined;
          before = open;
          const until = Math.max(mayArriveUntil(job, clock()), open?.until ?? 0);
          const isSame = !open || isEqual(open.value, value);
          noted = { until, ...(isSame && { value }) };
          return { ...state, doubt: noted };
        });
        return begun !== undefined;
      },
      cancel: async () => void (await end({})),
    });
    if (refused !== null) return { refused };
    await end({ told: value, toldBy: place, times: times + 1 });
  }
}

/**
 * Orders the requests of people as text: by the second in which they asked, because GitHub tells no more, then by their
 * arrival, and the lines of one comment by their order.
 */
export function placeOf({ asked, createdAt, id }: Pick<Job, 'asked' | 'createdAt' | 'id'>): string {
  const at = asked?.at ?? createdAt;
  const times = [Math.floor(at / 1_000), createdAt, at].map((time) => String(time).padStart(16, '0'));
  return [...times, id].join('-');
}

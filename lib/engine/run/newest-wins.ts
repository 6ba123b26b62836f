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
 * Returns until when the service may carry out what this run sends, in epoch milliseconds. A run signs nothing after
 * the end of its lease.
 */
export const mayArriveUntil = ({ lease }: Job, now: number) => executableUntil(lease?.until ?? now);

/**
 * A value that several requests may set, such as the status of a test scenario. The newest request wins, however late
 * the others arrive: when no call is under way, the service has its value, unless the service refused it or somebody
 * else changed it.
 */
const stateShape = z.object({
  /** The place of the newest request. */
  place: z.string(),
  /** The value that the service accepted last, and the place of its request. */
  told: z.optional(z.unknown()),
  toldBy: z.optional(z.string()),
  /** How many values were accepted. */
  times: z.int(),
  /**
   * The value that a call without an answer may still set, and until when. Without a value, there were several such
   * calls.
   */
  doubt: z.optional(z.object({ until: storedTime, value: z.optional(z.unknown()) })),
});
type State = z.output<typeof stateShape>;

/** A request to set a value. */
export interface Setting {
  /** The kind of object, and its id. */
  kind: string;
  id: string;
  /** The request's position as sortable text: the last one is the newest. Unique for each request. */
  place: string;
  value: boolean | number | string | object;
  /** True if a value that the service already has from an earlier request is not sent again. */
  unlessTold?: boolean;
}

/**
 * - `as before`: an earlier request set the same value
 * - `newer`: a newer request sets or has set the value
 * - `refused`: the service refused it, with the reason that `send` returned
 * - `until`: the value is set, but an older call may still arrive until then, in epoch milliseconds. Set the value
 *   again after that
 */
export type Fate = 'sent' | 'as before' | 'newer' | { refused: string } | { until: number };

/**
 * Sets a value unless there is a newer request.
 *
 * @param send sets the value with `steps.set`, in a separate step for each number. Returns the reason if the service
 * refuses, or null
 */
export async function setNewest(
  { table, clock }: { table: Table; clock: () => number },
  job: Job,
  { kind, id, place, value, unlessTold = false }: Setting,
  send: (number: number, fence: Fence) => Promise<string | null>,
): Promise<Fate> {
  /** Changes the state unless there is a newer request. */
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
    // `noted` is what this call wrote, and `before` what it replaced. Another run of the job may have written since.
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
 * Orders people's requests as text: first by the second in which they asked, because GitHub gives no more precision,
 * then by arrival, and then by line within one comment.
 */
export function placeOf({ asked, createdAt, id }: Pick<Job, 'asked' | 'createdAt' | 'id'>): string {
  const at = asked?.at ?? createdAt;
  const times = [Math.floor(at / 1_000), createdAt, at].map((time) => String(time).padStart(16, '0'));
  return [...times, id].join('-');
}

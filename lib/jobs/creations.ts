import type * as z from 'zod';
import type { Connection } from '../connection/connection.ts';
import { digest } from '../digest.ts';
import { type PartnerClient, pages } from '../partner/client.ts';
import { PartnerError } from '../partner/errors.ts';
import type { Operation } from '../partner/operation.ts';
import { operations } from '../partner/operations.ts';
import type { SignedRequest } from '../partner/signed-request.ts';
import { decisions } from './decide.ts';
import { Later, Park } from './interruption.ts';
import type { Journal, OpenRequest } from './journal.ts';
import type { Sending } from './sending.ts';
import type { Slots } from './slots.ts';

/** The service refuses a timestamp after five minutes; the same bytes are sent for four (design, promise 2). */
const RESEND_WINDOW_MS = 4 * 60_000;
const RESEND_PAUSES_MS = [250, 1_000, 3_000, 10_000, 30_000];
/** A list may lag behind: what was not found is looked for once more after this long. */
const SEARCH_AGAIN_MS = 60_000;
const SEARCHES = 2;
const SEARCH_PAGES = 10;
const SEARCH_PAGE_SIZE = 100;

/** What was created, and the digest of the payload that it was created with. */
export interface Creation<Data> {
  data: Data;
  signed: string;
}

/** Calls an operation that creates something, at most once for the step. */
export type Creating = <P extends z.ZodType, D extends z.ZodType>(
  step: string,
  operation: Operation<P, D>,
  payload: z.input<P>,
  marker: string | undefined,
) => Promise<Creation<z.output<D>>>;

export interface CreationsOptions {
  connection: Connection;
  journal: Journal;
  sending: Sending;
  slots: Slots;
  /** Reads a list, ahead of other work. */
  search: PartnerClient['call'];
  clock: () => number;
}

/** Calls of operations that create something, each at most once for its step; see decide.ts. */
export function createCreations(options: CreationsOptions): Creating {
  const { connection, journal, sending, slots, search, clock } = options;

  async function callCreating<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker: string | undefined,
  ): Promise<Creation<z.output<D>>> {
    let open = journal.openRequest(step);
    let unanswered = open !== undefined;
    for (let sends = 0, signedAgain = false; ; sends++) {
      if (open && (open.searches > 0 || clock() >= open.request.signedAt + RESEND_WINDOW_MS)) {
        return { data: await lookFor(step, operation, payload, marker, open), signed: open.signed };
      }
      const first = open !== undefined;
      const slot = await sending.takeSlot(first);
      const client = await connection.client();
      if (!open) {
        open = { request: signed(client, operation, payload), signed: digest(payload), searches: 0 };
        await journal.keepRequest(step, open);
      }
      const { request } = open;
      try {
        const { data } = await sending.send(slot, first, () => client.send(operation, request));
        return { data, signed: open.signed };
      } catch (thrown) {
        const { error, outcome } = await sending.outcomeTold(thrown, signedAgain);
        const decision = decisions[outcome][unanswered ? 'creating, unanswered' : 'creating'];
        if (decision === 'look for it') {
          return { data: await lookFor(step, operation, payload, marker, open), signed: open.signed };
        }
        if (decision === 'same bytes') {
          unanswered = true;
          const pause = RESEND_PAUSES_MS[Math.min(sends, RESEND_PAUSES_MS.length - 1)] ?? 0;
          const next = outcome === 'rate limited' ? await sending.pauseConnection(error) : clock() + pause;
          await slots.pauseUntil(
            next,
            `the same request is sent again, for nobody knows what became of it: ${error.message}`,
          );
        } else {
          // Every send of these bytes was clearly refused: they are done with.
          await journal.dropRequest(step);
          open = undefined;
          await sending.act(decision, error, signedAgain);
          signedAgain = true;
        }
      }
    }
  }

  /** Decides an open creation by what can be found of it, or leaves it to a person. */
  async function lookFor<P extends z.ZodType, D extends z.ZodType>(
    step: string,
    operation: Operation<P, D>,
    payload: z.input<P>,
    marker: string | undefined,
    open: OpenRequest,
  ): Promise<z.output<D>> {
    const { found } = operation;
    const list = found && operations.get(found.list);
    if (!found || !list || !marker) {
      throw new Park(`${operation.name} was sent and never clearly answered, and leaves nothing to look for it by`);
    }
    const sent = payload as Record<string, unknown>;
    const scope = Object.fromEntries(found.scope.map((field) => [field, sent[field]]));
    const call: PartnerClient['call'] = (listing, filter) => search(connection.operation(listing), filter);
    for await (const page of pages(call, list, { ...scope, [found.pageSize]: SEARCH_PAGE_SIZE }, SEARCH_PAGES)) {
      const row = (page.data as Record<string, unknown>[]).find((row) => String(row[found.field]).includes(marker));
      if (row) return operation.data.parse(row);
    }
    const searches = open.searches + 1;
    await journal.keepRequest(step, { ...open, searches });
    if (searches < SEARCHES) throw new Later(clock() + SEARCH_AGAIN_MS, `${operation.name} is looked for once more`);
    throw new Park(
      `${operation.name} was sent and never clearly answered; its marker ${marker} is not in the ${found.field} of anything in the first ${SEARCH_PAGES} pages of ${list.name}`,
    );
  }

  return callCreating;
}

function signed<P extends z.ZodType>(
  client: PartnerClient,
  operation: Operation<P>,
  payload: z.input<P>,
): SignedRequest {
  try {
    return client.sign(operation, payload);
  } catch (error) {
    if (error instanceof PartnerError) throw new Park(error.message, { cause: error });
    throw error;
  }
}

import { isOfPeople, type Lane } from '../../service/budget/lanes.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { NeedsOperator } from '../record/interruption.ts';
import type { FoundBy, Journal, OpenRequest } from '../record/journal.ts';
import { ofEarlierTable, type ReplacedTable } from '../record/replaced-table.ts';
import { mayExist, type SendLog } from '../record/sends.ts';
import type { Created, Identity } from './job-steps.ts';
import { createReadings, ListTooSlow, type ReadingsOptions, type Wanted } from './readings.ts';

/**
 * When the relay searches for the created object after its last send. It searches several times, because a list may lag
 * behind and the service may still be processing the request. Background jobs wait before the first search, so that one
 * reading of the list serves many jobs. People's jobs do not.
 */
const LOOKS_AFTER_MS = {
  people: [1_000, 10_000, 30_000, 90_000],
  background: [10_000, 30_000, 90_000],
} as const;
/** An older reading of a list cannot prove that an object does not exist. */
const OLDEST_READING_MS = 10_000;
/** How long the last search waits for a failing list operation to recover. */
const LONGEST_WAIT_MS = 3_600_000;

export interface SearchesOptions extends ReadingsOptions {
  lane: Lane;
  journal: Journal;
  replacedTable: ReplacedTable;
  /** The earliest time at which the job's event may have happened; epoch milliseconds. */
  happenedAt: number;
  /** When an operator last decided about the job, or 0; epoch milliseconds. */
  decidedAt: number;
}

/** Searches by marker for objects that may have been created. */
export function createSearches(options: SearchesOptions) {
  const { connection, lane, journal, replacedTable, happenedAt, decidedAt, clock } = options;
  const { pauses, ensureWorks, hadWorked } = options.calls;
  const find = createReadings(options);
  // The operator may have decided because of something newer than the last reading. Their clock may be ahead.
  const sinceDecision = (since: number) => Math.max(since, Math.min(decidedAt, clock()));

  function wantedBy({ found, createdId: idField }: Operation, by: FoundBy | undefined): Wanted | undefined {
    const list = found && operations.get(found.list);
    return list && by && idField !== undefined
      ? { ...by, idField, found, list: connection.operation(list) }
      : undefined;
  }

  return {
    /**
     * Settles an open creation with a search, or parks the job for a person.
     * @returns undefined if the search found nothing, and a person has decided that the object is then created again
     */
    async lookFor(
      step: string,
      operation: Operation,
      by: FoundBy | undefined,
      request: OpenRequest,
      log: SendLog,
    ): Promise<Created | undefined> {
      const wanted = wantedBy(operation, by);
      const unclear = `${operation.name}: ${mayExist(log.sends()?.newest ?? [], request.request.signedAt)}`;
      if (!wanted) {
        if (request.again) return undefined;
        throw new NeedsOperator(`${unclear}. The relay cannot search for it`);
      }
      const { lookFrom = clock() } = request;
      const looks = LOOKS_AFTER_MS[isOfPeople(lane) ? 'people' : 'background'];
      let open = { ...request, lookFrom };
      if (request.lookFrom === undefined) await journal.keepRequest(step, open);
      for (;;) {
        const isLast = open.searches >= looks.length - 1;
        // While the operation fails, the service may still finish the request.
        if (isLast && clock() < lookFrom + LONGEST_WAIT_MS) await ensureWorks(operation);
        const lookAt = lookFrom + (looks[open.searches] ?? looks[0]);
        await pauses.until(lookAt, `${unclear}. The relay searches for it`, 'answer');
        const since = sinceDecision(Math.max(lookAt, clock() - OLDEST_READING_MS));
        const sought = await find(wanted, since, log).catch(async (error) => {
          if (!(error instanceof ListTooSlow)) throw error;
          await journal.keepRequest(step, { ...open, searches: open.searches + 1 });
          // A person's decision to create the object again depends on this search, so the search must finish.
          throw isLast && !open.again
            ? new NeedsOperator(`${unclear}. The relay cannot search for it: ${error.message}`)
            : error;
        });
        log.tell();
        if (sought.id !== undefined) {
          log.settle(`it was found by its marker in ${wanted.list.name}`);
          await hadWorked(operation, lookFrom);
          return { id: sought.id, sent: open.sent, thing: open.thing };
        }
        const { id: _, ...lastSearch } = sought;
        open = { ...open, searches: open.searches + 1, lastSearch };
        await journal.keepRequest(step, open);
        if (isLast && open.again) return undefined;
        if (isLast) {
          const where = lastSearch.isComplete
            ? wanted.list.name
            : `the part of ${wanted.list.name} that the relay can read`;
          throw new NeedsOperator(
            `${unclear}. Nothing in ${where} has its marker ${wanted.marker} in its ${wanted.found.field}`,
          );
        }
      }
    },
    /**
     * After the table was lost or restored, searches before the first send for an object created with the earlier
     * table.
     * @returns undefined if there is none
     * @throws {NeedsOperator} if a search cannot show that
     */
    async createdBefore(
      operation: Operation,
      by: FoundBy | undefined,
      identity: Identity | undefined,
      log: SendLog,
    ): Promise<Created | undefined> {
      const { notBefore = happenedAt, decide = 'look in the service, and discard the job if it exists there' } =
        identity ?? {};
      const ofEvent = await ofEarlierTable(replacedTable, notBefore, operation.name);
      if (!ofEvent && !identity?.thing) return undefined;
      const wanted = wantedBy(operation, by);
      const earlier = ofEvent ?? (wanted && (await ofEarlierTable(replacedTable, 0, operation.name)));
      if (!earlier) return undefined;
      const { until, unknown } = earlier;
      if (!wanted) throw new NeedsOperator(`${unknown}: the relay cannot search for it; ${decide}`);
      const since = sinceDecision(Math.min(clock() - OLDEST_READING_MS, until));
      const sought = await find({ ...wanted, toTheEnd: true }, since, log);
      if (sought.id !== undefined) {
        log.settle(`it was created before the table was replaced, and found by its marker in ${wanted.list.name}`);
        let created: Created = { id: sought.id, sent: {}, thing: identity?.thing };
        // The number of releases is lost with the table, so the newest object counts.
        for (let next = await identity?.next?.(); next?.marker; next = await next.next?.()) {
          const { id } = await find({ ...wanted, marker: next.marker, toTheEnd: true }, since, log);
          if (id === undefined) break;
          created = { id, sent: {}, thing: next.thing };
        }
        return created;
      }
      if (sought.isComplete || !ofEvent) return undefined;
      throw new NeedsOperator(
        `${unknown}: the relay did not find its marker ${wanted.marker}, but cannot read all of ${wanted.list.name}; ${decide}`,
      );
    },
  };
}

/** Returns how to find the object that a step creates. @returns undefined if it cannot be found */
export function foundBy({ found }: Operation, payload: unknown, marker: string | undefined): FoundBy | undefined {
  if (!found || !marker) return undefined;
  const sent = payload as Record<string, unknown>;
  return { marker, scope: Object.fromEntries(found.scope.map((field) => [field, sent[field]])) };
}

import { join } from 'node:path';
import * as z from 'zod';
import type { Hook } from '../../lib/platforms/github/redelivery/hooks.ts';
import type { Attempt, HookDeliveries } from '../../lib/platforms/github/redelivery/redelivery-api.ts';
import { signedByGithub } from '../../local/examples/signed-request.ts';
import { readOwnFile, writeOwnFile } from '../../local/own-file.ts';
import { STATE_FOLDER } from '../../local/state.ts';

/** How far the relay has the deliveries of a hook. */
const place = z.object({
  /** Earlier deliveries are ignored. Epoch milliseconds. */
  since: z.number(),
  /** The GUIDs of deliveries that the relay has and that GitHub may still list as new, with their times. */
  handed: z.record(z.string(), z.number()),
});
export type Place = z.output<typeof place>;

const places = z.record(z.string(), place);

/** How late GitHub may list an attempt. */
const LISTED_LATE_MS = 60 * 60_000;

export interface GithubDeliveriesOptions {
  /** Reads the hook's deliveries; called once for each poll. */
  deliveries: () => HookDeliveries;
  /** Sends a delivery to the relay. @returns its status; undefined without an answer */
  hand: (request: ReturnType<typeof signedByGithub>) => Promise<number | undefined>;
  webhookSecret: () => Promise<string>;
  place: { read(): Place; keep(place: Place): void };
  /** The events that automations take. */
  taken: ReadonlySet<string>;
  report: (delivery: { guid: string; event: string; status: number }) => void;
  /** Epoch milliseconds. */
  clock: () => number;
}

/** The relay did not accept a delivery now, but may later. */
export class NotHanded extends Error {
  override readonly name = 'NotHanded';
}

/**
 * Brings the deliveries of a hook to a relay that GitHub cannot reach: reads them from GitHub's list, signs them with
 * the relay's own secret, and posts them to its webhook. GitHub documents the list, and keeps deliveries for three
 * days, so nothing is lost while this machine sleeps. Each delivery arrives at least once and in order; the relay
 * recognizes repeats. Hook headers are left out, so that the relay does not ask GitHub for redeliveries that cannot
 * reach it.
 *
 * @see https://docs.github.com/en/rest/repos/webhooks#get-a-delivery-for-a-repository-webhook
 */
export function createGithubDeliveries(options: GithubDeliveriesOptions) {
  const { deliveries, hand, webhookSecret, place, report, clock } = options;
  /** This process has handed over everything up to this time. It then skips events that the relay ignores. */
  let polledTo = 0;

  /** The first listed attempt of each delivery that the relay does not have, oldest first. */
  async function newOnes(list: HookDeliveries, { since, handed }: Place): Promise<Attempt[]> {
    const newest = Math.max(polledTo, ...Object.values(handed));
    const from = Math.max(since, newest - LISTED_LATE_MS);
    const found = new Map<string, Attempt>();
    for await (const { data } of list.pages()) {
      for (const attempt of data) {
        const isOurs = attempt.deliveredAt >= from && options.taken.has(attempt.event) && !(attempt.guid in handed);
        if (isOurs) found.set(attempt.guid, attempt);
      }
      if (data.some(({ deliveredAt }) => deliveredAt < from)) break;
    }
    return [...found.values()].sort((a, b) => a.deliveredAt - b.deliveredAt || Number(BigInt(a.id) - BigInt(b.id)));
  }

  return {
    /**
     * Hands all new deliveries to the relay. @returns their number
     * @throws {NotNow | HookRefused | NotHanded}
     */
    async poll(): Promise<number> {
      const begunAt = clock();
      const list = deliveries();
      let reached = place.read();
      const found = await newOnes(list, reached);
      for (const { id, guid, event, deliveredAt } of found) {
        const body = toJson(await list.payload(id));
        const status = await hand(signedByGithub(event, body, await webhookSecret(), guid));
        if (!isSettled(status)) throw new NotHanded(`the relay answered ${status ?? 'nothing'} to ${event} ${guid}`);
        reached = withHanded(reached, guid, deliveredAt);
        place.keep(reached);
        report({ guid, event, status });
      }
      polledTo = begunAt;
      return found.length;
    },
  };
}

/** Whether the relay accepted the delivery, or refused it for good: its payload is unreadable or too large. */
function isSettled(status: number | undefined): status is number {
  return status !== undefined && ((status >= 200 && status < 300) || status === 400 || status === 413);
}

/** Adds a delivery, and drops those that are too old to be listed again. */
function withHanded({ since, handed }: Place, guid: string, deliveredAt: number): Place {
  const all = { ...handed, [guid]: deliveredAt };
  const newest = Math.max(...Object.values(all));
  const from = newest - LISTED_LATE_MS;
  const kept = Object.entries(all).filter(([, at]) => at >= from);
  return { since: Math.max(since, from), handed: Object.fromEntries(kept) };
}

/** Like GitHub's JSON for `JSON.parse`: the client reads integers beyond 2^53 as bigint. */
function toJson(payload: Record<string, unknown>): string {
  return JSON.stringify(payload, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
}

/**
 * Keeps the place of a hook in a file below `.relay/`.
 *
 * @param since where a new hook begins, in epoch milliseconds
 */
export function keptPlace({ kind, target, id }: Hook, since: number): GithubDeliveriesOptions['place'] {
  const file = join(STATE_FOLDER, 'github-deliveries.json');
  const name = `${kind} ${target} ${id}`;
  const readAll = () => places.parse(JSON.parse(readOwnFile(file) ?? '{}'));
  return {
    read: () => readAll()[name] ?? { since, handed: {} },
    keep: (place) => writeOwnFile(file, JSON.stringify({ ...readAll(), [name]: place })),
  };
}

/** One attempt to deliver something. The attempts of one delivery share its GUID; each has its own id. */
export interface Attempt {
  /** In digits, because it is larger than a JavaScript number can hold. */
  id: string;
  /** `X-GitHub-Delivery` */
  guid: string;
  /** `X-GitHub-Event` */
  event: string;
  /** Epoch milliseconds. */
  deliveredAt: number;
  /** False for the first attempt. */
  isRedelivery: boolean;
  /** The relay's answer, or what GitHub makes of a missing one: 0, 502. */
  statusCode: number;
}

/** A delivery that has neither arrived nor been refused. */
export interface OpenDelivery {
  guid: string;
  /** When GitHub first attempted it, in epoch milliseconds. */
  firstAt: number;
  newest: Attempt;
  /** How many redeliveries failed although the hook had delivered something since the attempt before. */
  chances: number;
}

/** What to do about the open deliveries. */
export interface Decision {
  giveUp: OpenDelivery[];
  /** In the order in which to ask for them. */
  ask: OpenDelivery[];
  /** When GitHub first attempted the oldest that is not given up, in epoch milliseconds; Infinity for none. */
  openSince: number;
}

const MAX_CHANCES = 5;
/** The relay refuses the same bytes again. A 401 is left out: a webhook secret that was wrong can be put right. */
const REFUSALS = new Set([400, 413]);

/**
 * How long GitHub redelivers something: 3 days, on GitHub Enterprise Server 7.
 * https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
 *
 * @param apiUrl `https://api.github.com`; that of a GitHub Enterprise Server ends in `/api/v3`
 */
export function keptForMs(apiUrl: string): number {
  return (/\/api\/v3\/?$/.test(apiUrl) ? 7 : 3) * 86_400_000;
}

export function isDelivered({ statusCode }: Attempt): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/**
 * The open deliveries in a part of a hook's list, oldest first. A delivery whose first attempt is missing from that part
 * is left out: it was settled before, or a later run reads all of it.
 *
 * @param attempts from the newest to some older one, without gaps
 * @param events those that an automation takes; other deliveries change nothing when they arrive
 */
export function openDeliveries(attempts: readonly Attempt[], events: ReadonlySet<string>): OpenDelivery[] {
  const arrivals = attempts.filter(isDelivered).map(({ deliveredAt }) => deliveredAt);
  const taken = attempts.filter(({ event }) => events.has(event)).reverse();
  return [...Map.groupBy(taken, ({ guid }) => guid).values()].flatMap((own) => {
    const [first] = own;
    const newest = own.at(-1);
    const isSettled = own.some(isDelivered) || (newest && REFUSALS.has(newest.statusCode));
    if (!first || !newest || first.isRedelivery || isSettled) return [];
    const chances = own.filter(({ deliveredAt }, index) => {
      const before = own[index - 1];
      return before && arrivals.some((arrival) => arrival > before.deliveredAt && arrival < deliveredAt);
    });
    return [{ guid: first.guid, firstAt: first.deliveredAt, newest, chances: chances.length }];
  });
}

/**
 * A delivery is asked for once the hook has delivered something since its newest attempt, and given up after five such
 * chances. While nothing gets through, only one delivery is asked for, to find out when that changes. This does not
 * count as a chance.
 *
 * @param attempts as {@link openDeliveries} takes them
 */
export function decide(attempts: readonly Attempt[], events: ReadonlySet<string>): Decision {
  const open = openDeliveries(attempts, events);
  const giveUp = open.filter(({ chances }) => chances >= MAX_CHANCES);
  const rest = open.filter(({ chances }) => chances < MAX_CHANCES);
  const openSince = rest[0]?.firstAt ?? Number.POSITIVE_INFINITY;
  const arrivedAt = attempts.find(isDelivered)?.deliveredAt ?? 0;
  const due = rest.filter(({ newest }) => newest.deliveredAt < arrivedAt);
  // GitHub drops the oldest first. The youngest goes ahead of them: a 404 to that one can only mean a missing right.
  const youngest = due.pop();
  if (youngest) return { giveUp, openSince, ask: [youngest, ...due] };
  // Each run tries another one, so that a delivery that always fails does not hide that the others would arrive.
  const leastRecent = rest.toSorted((a, b) => a.newest.deliveredAt - b.newest.deliveredAt);
  return { giveUp, openSince, ask: leastRecent.slice(0, 1) };
}

import * as z from 'zod';

/**
 * The stage of a request at which a fault happens: 'on arrival' is before the service, which then checks and counts
 * nothing; 'before work' is after all checks; 'after work' is after the records changed; 'on answer' is when any answer
 * would leave. The MCP and OAuth endpoints do not have 'on answer'.
 */
export type When = z.output<typeof when>;
const when = z.enum(['on arrival', 'before work', 'after work', 'on answer']);

const DAY_MS = 86_400_000;
/** Dates end after some 270,000 years, and an invalid Date header would end the process. */
const MOST_SKEW_SECONDS = 10 * 365 * 86_400;

const milliseconds = z.number().min(0).max(DAY_MS);

/** Which requests a fault affects. A request uses up a fault on arrival, whatever its result. */
const limits = {
  /** Only requests to this operation path, as called, or to this path of an MCP or OAuth endpoint (/oauth/token). */
  operation: z.string().startsWith('/').exactOptional(),
  /** Only requests with this JSON-RPC method, name of a tool, or grant_type. */
  call: z.string().exactOptional(),
  /** How many requests are affected. */
  times: z.int().min(1).exactOptional(),
  /** How many requests succeed first. */
  skip: z.int().min(0).exactOptional(),
  /** The probability that a request is affected. */
  part: z.number().min(0).max(1).exactOptional(),
};
const fault = <K extends string, F extends z.core.$ZodLooseShape>(kind: K, fields: F) =>
  z.strictObject({ kind: z.literal(kind), ...limits, ...fields });

const timed = { when: when.exactOptional() };
const disturbances = [
  /** `ms`, or a random time between `ms` and `toMs`. */
  fault('latency', { ...timed, ms: milliseconds, toMs: milliseconds.exactOptional() }),
  /** Destroys the socket. 'before work': nothing was done. 'after work': the answer is lost. */
  fault('cut', timed),
  fault('server-error', timed),
  fault('rate-limited', { ...timed, retryAfterSeconds: z.number().min(0).exactOptional() }),
  /** An HTML page, with status 503 or the given one, which may be 200. */
  fault('maintenance', { ...timed, status: z.union([z.literal(200), z.int().min(400).max(599)]).exactOptional() }),
  /** 302 to an HTML page. */
  fault('login-redirect', timed),
  fault('empty-body', timed),
  fault('not-json', timed),
] as const;
/** Permanent changes that happen when a request to an MCP or OAuth endpoint arrives. */
const happenings = [
  fault('grants-revoked', {}),
  fault('consent-withdrawn', {}),
  fault('mcp-disabled', {}),
  fault('sessions-ended', {}),
] as const;
const faults = [
  ...disturbances,
  ...happenings,
  /** Every key counts as revoked. */
  fault('key-revoked', {}),
  /** The request's token counts as expired: the access token at /mcp/partner, the refresh token at /oauth/token. */
  fault('token-expired', {}),
  /** Changed fields of a discovery document; null removes a field. */
  fault('discovery', { fields: z.record(z.string(), z.unknown()) }),
  /** Sets the server's clock and its Date header ahead by this many seconds, or behind if negative. */
  fault('clock-skew', { seconds: z.number().min(-MOST_SKEW_SECONDS).max(MOST_SKEW_SECONDS) }),
] as const;
const kinds = faults.map(({ shape }) => shape.kind.value);
const anyFault = z.discriminatedUnion('kind', faults, { error: `expected one of ${kinds.join(', ')}` });

export type Disturbance = z.output<(typeof disturbances)[number]>;
export type Happening = z.output<(typeof happenings)[number]>;
export type Fault = z.output<typeof anyFault>;

export function isHappening(fault: Fault): fault is Happening {
  return happenings.some(({ shape }) => shape.kind.value === fault.kind);
}

/** The side that a fault can affect; undefined means both. */
function sideOf(fault: Fault): 'partner' | 'mcp' | undefined {
  if (fault.kind === 'key-revoked') return 'partner';
  return isHappening(fault) || fault.kind === 'token-expired' || fault.kind === 'discovery' ? 'mcp' : undefined;
}

const defaultMoments: Readonly<Record<Disturbance['kind'], When>> = {
  latency: 'on arrival',
  cut: 'before work',
  'server-error': 'before work',
  'rate-limited': 'on arrival',
  maintenance: 'on arrival',
  'login-redirect': 'on arrival',
  'empty-body': 'after work',
  'not-json': 'after work',
};

export class Faults {
  #active: { id: string; fault: Fault; skip: number; left: number }[] = [];
  #made = 0;

  /** Sets a fault. @throws {Error} that says what is wrong with it */
  set(given: unknown): void {
    const read = anyFault.safeParse(given);
    if (!read.success) throw new Error(read.error.issues.map(told).join('; '));
    this.#made += 1;
    const { skip = 0, times = Number.POSITIVE_INFINITY } = read.data;
    this.#active.push({ id: String(this.#made), fault: read.data, skip, left: times });
  }

  clear(): void {
    this.#active = [];
  }

  /** Removes a fault. @returns false if it is used up or was removed before */
  remove(id: string): boolean {
    const before = this.#active.length;
    this.#active = this.#active.filter((active) => active.id !== id);
    return this.#active.length < before;
  }

  /** The active faults. `skip` and `times` are the remaining counts. */
  list(): Fault[] {
    return this.entries().map(({ fault }) => fault);
  }

  /** The active faults, with an id by which each can be removed. */
  entries(): { id: string; fault: Fault }[] {
    return this.#active.map(({ id, fault, skip, left }) => ({
      id,
      fault: {
        ...fault,
        ...(fault.skip === undefined ? {} : { skip }),
        ...(fault.times === undefined ? {} : { times: left }),
      },
    }));
  }

  /** The faults for the next request to an operation. @param calls the names that `call` may match */
  take(operation: string, side: 'partner' | 'mcp', calls: readonly string[] = []): Fault[] {
    const met = this.#active.filter(
      ({ fault }) =>
        (sideOf(fault) ?? side) === side &&
        (fault.operation ?? operation) === operation &&
        (fault.call === undefined || calls.includes(fault.call)),
    );
    const due = met.filter(({ skip, fault }) => skip === 0 && Math.random() < (fault.part ?? 1));
    for (const active of met) {
      if (active.skip > 0) active.skip -= 1;
      else active.left -= 1;
    }
    this.#active = this.#active.filter(({ left }) => left > 0);
    return due.map(({ fault }) => fault);
  }
}

/** The disturbance of this stage, without latency. */
export function disturbanceAt(faults: readonly Fault[], when: When): Disturbance | undefined {
  return disturbancesAt(faults, when).find(({ kind }) => kind !== 'latency');
}

export async function delay(
  sleep: (ms: number) => Promise<unknown>,
  faults: readonly Fault[],
  when: When,
): Promise<void> {
  for (const fault of disturbancesAt(faults, when)) {
    if (fault.kind !== 'latency') continue;
    await sleep(fault.ms + Math.random() * Math.max(0, (fault.toMs ?? fault.ms) - fault.ms));
  }
}

/** How far the clock is ahead for this request. */
export function skewMsOf(faults: readonly Fault[]): number {
  return faults.reduce((total, fault) => total + (fault.kind === 'clock-skew' ? fault.seconds * 1000 : 0), 0);
}

function disturbancesAt(faults: readonly Fault[], when: When): Disturbance[] {
  return faults.filter(isDisturbance).filter((fault) => (fault.when ?? defaultMoments[fault.kind]) === when);
}

function isDisturbance(fault: Fault): fault is Disturbance {
  return Object.hasOwn(defaultMoments, fault.kind);
}

function told({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

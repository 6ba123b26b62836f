/**
 * Faults on demand. `when` is the stage of a request: 'on arrival' is in front of the service, which then neither
 * checks nor counts anything; 'before work' is after all checks; 'after work' is after the records changed; 'on answer' is
 * when the answer would leave, whatever it is. The MCP and OAuth endpoints have no such stage.
 */
export type When = 'on arrival' | 'before work' | 'after work' | 'on answer';

/** A request uses up a fault on arrival, regardless of its result. */
export interface FaultLimits {
  /** Only requests to this operation path, as called, or to this path of an MCP or OAuth endpoint (/oauth/token). */
  operation?: string;
  /** Only requests with this JSON-RPC method, name of a tool or grant_type. */
  call?: string;
  /** How many requests are affected. */
  times?: number;
  /** How many requests succeed first. */
  skip?: number;
  /** The part of the requests that are affected, at random. */
  part?: number;
}

export type Disturbance =
  /** `ms`, or a random time between `ms` and `toMs`. */
  | { kind: 'latency'; ms: number; toMs?: number; when?: When }
  /** The socket is destroyed. 'before work': nothing was done. 'after work': the answer is lost. */
  | { kind: 'cut'; when?: When }
  | { kind: 'server-error'; when?: When }
  | { kind: 'rate-limited'; retryAfterSeconds?: number; when?: When }
  /** An HTML page, with status 503 unless another one is given, which may be 200. */
  | { kind: 'maintenance'; status?: number; when?: When }
  /** 302 to an HTML page. */
  | { kind: 'login-redirect'; when?: When }
  | { kind: 'empty-body'; when?: When }
  | { kind: 'not-json'; when?: When }
  /** The connection ends in the middle of the body: in its first piece, or after this many whole events of a stream. */
  | { kind: 'stream-cut'; pieces?: number; when?: When }
  /** A pause in the middle of each piece of the body. */
  | { kind: 'stream-slow'; ms: number; when?: When };

/** Changes the state of a key, or of every key without `apiKey`. */
export type KeyFault =
  | { kind: 'key-inactive' | 'key-expired' | 'key-revoked'; apiKey?: string }
  /** The key has only these scopes. */
  | { kind: 'key-scoped'; scopes: readonly string[]; apiKey?: string };

/** A permanent change when a request to an MCP or OAuth endpoint arrives. */
export type Happening = {
  kind: 'clients-purged' | 'grants-revoked' | 'consent-withdrawn' | 'mcp-disabled' | 'sessions-ended';
};

export type Fault = FaultLimits &
  (
    | Disturbance
    | KeyFault
    | Happening
    /** The request's token counts as expired: the access token at /mcp/partner, the refresh token at /oauth/token. */
    | { kind: 'token-expired' }
    /** Wrong fields in a discovery document; null leaves a field out. */
    | { kind: 'discovery'; fields: Readonly<Record<string, unknown>> }
    /** The server's clock and its Date header are ahead by this many seconds, or behind if negative. */
    | { kind: 'clock-skew'; seconds: number }
  );

const happenings: readonly Fault['kind'][] = [
  'clients-purged',
  'grants-revoked',
  'consent-withdrawn',
  'mcp-disabled',
  'sessions-ended',
];

export function isHappening(fault: Fault): fault is FaultLimits & Happening {
  return happenings.includes(fault.kind);
}

/** The side that a fault can affect; undefined means both. */
function sideOf(fault: Fault): 'partner' | 'mcp' | undefined {
  if (isKeyFault(fault)) return 'partner';
  return isHappening(fault) || fault.kind === 'token-expired' || fault.kind === 'discovery' ? 'mcp' : undefined;
}

export function isKeyFault(fault: Fault): fault is FaultLimits & KeyFault {
  return fault.kind.startsWith('key-');
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
  'stream-cut': 'after work',
  'stream-slow': 'after work',
};

export class Faults {
  #active: { id: string; fault: Fault; skip: number; left: number }[] = [];
  #made = 0;

  /** Throws an error that says what is wrong with the fault. */
  set(fault: unknown): void {
    assertFault(fault);
    this.#made += 1;
    this.#active.push({
      id: String(this.#made),
      fault,
      skip: fault.skip ?? 0,
      left: fault.times ?? Number.POSITIVE_INFINITY,
    });
  }

  clear(): void {
    this.#active = [];
  }

  /** @returns false if it is used up or was removed */
  remove(id: string): boolean {
    const before = this.#active.length;
    this.#active = this.#active.filter((active) => active.id !== id);
    return this.#active.length < before;
  }

  /** The active faults. `skip` and `times` are the remaining counts. */
  list(): Fault[] {
    return this.entries().map(({ fault }) => fault);
  }

  /** The same, with an id to remove each by. */
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

  /** The faults for the next request to an operation; `calls` are the names that `call` may match. */
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

export function disturbancesAt(faults: readonly Fault[], when: When): Disturbance[] {
  return faults.filter(isDisturbance).filter((fault) => (fault.when ?? defaultMoments[fault.kind]) === when);
}

function isDisturbance(fault: Fault): fault is FaultLimits & Disturbance {
  return Object.hasOwn(defaultMoments, fault.kind);
}

interface Field {
  must: string;
  holds(value: unknown): boolean;
}

const DAY_MS = 86_400_000;
/** Dates end after some 270,000 years, and a Date header that cannot be written would end the process. */
const MOST_SKEW_SECONDS = 10 * 365 * 86_400;

const milliseconds: Field = { must: 'milliseconds from 0 to a day', holds: isBetween(0, DAY_MS) };
const apiKey: Field = { must: 'an API key', holds: (value) => typeof value === 'string' };
const operationPath: Field = {
  must: 'an operation path such as /defects/create',
  holds: (value) => typeof value === 'string' && value.startsWith('/'),
};
const when: Field = {
  must: 'on arrival, before work, after work or on answer',
  holds: (value) => ['on arrival', 'before work', 'after work', 'on answer'].some((stage) => stage === value),
};
const limits: Readonly<Record<string, Field>> = {
  operation: operationPath,
  call: { must: 'a JSON-RPC method, a tool or a grant_type', holds: (value) => typeof value === 'string' },
  times: { must: 'an integer from 1', holds: (value) => isFrom(1)(value) && Number.isInteger(value) },
  skip: { must: 'an integer from 0', holds: (value) => isFrom(0)(value) && Number.isInteger(value) },
  part: { must: 'a number from 0 to 1', holds: isBetween(0, 1) },
};
const required: Readonly<Partial<Record<Fault['kind'], string>>> = {
  latency: 'ms',
  'stream-slow': 'ms',
  discovery: 'fields',
  'clock-skew': 'seconds',
  'key-scoped': 'scopes',
};
const fieldsByKind: Readonly<Record<Fault['kind'], Readonly<Record<string, Field>>>> = {
  latency: { when, ms: milliseconds, toMs: milliseconds },
  cut: { when },
  'server-error': { when },
  'rate-limited': { when, retryAfterSeconds: { must: 'seconds from 0', holds: isFrom(0) } },
  maintenance: {
    when,
    status: {
      must: 'a status from 400 to 599, or 200',
      holds: (value) => value === 200 || (isBetween(400, 599)(value) && Number.isInteger(value)),
    },
  },
  'login-redirect': { when },
  'empty-body': { when },
  'not-json': { when },
  'stream-cut': {
    when,
    pieces: { must: 'an integer from 0', holds: (value) => isFrom(0)(value) && Number.isInteger(value) },
  },
  'stream-slow': { when, ms: milliseconds },
  'clients-purged': {},
  'grants-revoked': {},
  'consent-withdrawn': {},
  'mcp-disabled': {},
  'sessions-ended': {},
  'token-expired': {},
  discovery: {
    fields: {
      must: 'an object',
      holds: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    },
  },
  'clock-skew': {
    seconds: { must: 'seconds of at most ten years', holds: isBetween(-MOST_SKEW_SECONDS, MOST_SKEW_SECONDS) },
  },
  'key-inactive': { apiKey },
  'key-expired': { apiKey },
  'key-revoked': { apiKey },
  'key-scoped': {
    apiKey,
    scopes: {
      must: 'a list of scopes',
      holds: (value) => Array.isArray(value) && value.every((scope) => typeof scope === 'string'),
    },
  },
};

function assertFault(value: unknown): asserts value is Fault {
  if (typeof value !== 'object' || value === null) throw new Error('a fault must be a JSON object');
  const kind = 'kind' in value ? value.kind : undefined;
  const kinds = Object.keys(fieldsByKind) as Fault['kind'][];
  const known = kinds.find((name) => name === kind);
  if (known === undefined) throw new Error(`kind must be one of ${kinds.join(', ')}`);
  const fields = { ...limits, ...fieldsByKind[known] };
  const missing = required[known];
  if (missing !== undefined && !(missing in value)) throw new Error(`${missing} is required with kind ${known}`);
  for (const [name, given] of Object.entries(value)) {
    if (name === 'kind') continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) throw new Error(`${name} is unknown with kind ${known}`);
    if (!field.holds(given)) throw new Error(`${name} must be ${field.must}`);
  }
}

function isFrom(least: number): (value: unknown) => boolean {
  return isBetween(least, Number.POSITIVE_INFINITY);
}

function isBetween(least: number, most: number): (value: unknown) => boolean {
  return (value) => Number.isFinite(value) && Number(value) >= least && Number(value) <= most;
}

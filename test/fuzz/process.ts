import { AsyncLocalStorage } from 'node:async_hooks';
import { carryOutTwice } from '../../local/world/aws.ts';
import { SILENCE_MS, silence } from '../simulation/aws-troubles.ts';

/** Troubles of a process at one of its requests to AWS, the service, GitHub or Slack. */
export const troubles = [
  'dies before',
  'dies after',
  'stalls before',
  'stalls after',
  'answer lost',
  'refused',
  'failed after',
  'takes 5 s',
  'takes 65 s',
] as const;

/** Troubles only of requests to AWS. The service has its own faults. */
const ofAws: readonly What[] = ['answer lost', 'refused', 'failed after', 'takes 5 s', 'takes 65 s', 'silent'];

/** If AWS is `silent`, it has carried out the request. */
export type What = (typeof troubles)[number] | 'silent';

/** Trouble at the request with that number, counted from 0. */
export interface Trouble {
  at: number;
  what: (typeof troubles)[number];
}

/**
 * Decides the trouble of a request.
 *
 * @param at its number in its process, counted from 0
 * @param does what it changes outside, in words; undefined if it only reads
 */
export type Befall = (at: number, does: string | undefined) => What | undefined;

export const befallenBy =
  (troubles: readonly Trouble[]): Befall =>
  (at) =>
    troubles.find((trouble) => trouble.at === at)?.what;

export type State = 'ended' | 'died' | 'stalled';

const current = new AsyncLocalStorage<Process>();

/**
 * A run of a function or of a command. All its outside requests pass here, so that it can be killed before and after
 * each, or stall there while others continue.
 */
export class Process {
  /** The number of its requests. */
  requests = 0;
  readonly #befall: Befall;
  readonly #sleep: (ms: number) => Promise<void>;
  #stopped: (state: State) => void = () => {};
  #gate: Promise<void> | undefined;
  #open: () => void = () => {};
  #isDead = false;
  #end: Promise<State> = Promise.resolve('ended');
  /** Requests that have left. */
  readonly #left = new Set<Promise<unknown>>();

  /** @param sleep lets time pass */
  constructor(befall: Befall, sleep: (ms: number) => Promise<void>) {
    this.#befall = befall;
    this.#sleep = sleep;
  }

  /** The process that runs now. */
  static current(): Process | undefined {
    return current.getStore();
  }

  /** Whether the process has died or stalled. */
  get isStopped(): boolean {
    return this.#gate !== undefined;
  }

  /** @param act must not throw */
  start(act: () => Promise<void>): Promise<State> {
    const stop = this.#nextStop();
    this.#end = current.run(this, act).then(() => 'ended');
    return this.#untilStop(stop);
  }

  /** Resumes a stalled process. */
  async resume(): Promise<State> {
    if (this.#isDead) return 'died';
    const stop = this.#nextStop();
    this.#gate = undefined;
    this.#open();
    return this.#untilStop(stop);
  }

  async #untilStop(stop: Promise<State>): Promise<State> {
    const state = await Promise.race([this.#end, stop]);
    // Requests that had left still arrive, before anything else happens.
    await Promise.allSettled(this.#left);
    return state;
  }

  /** Carries out a request of the current process. The test's own requests pass unchanged. */
  static pass<T>(carryOut: () => Promise<T>, isAws: boolean, does?: string): Promise<T> {
    return Process.current()?.pass(carryOut, isAws, does) ?? carryOut();
  }

  /** Lets time pass for the current process, unless it has stalled. */
  static async sleep(sleep: () => Promise<void>): Promise<void> {
    await Process.current()?.untilItGoes();
    await sleep();
  }

  async untilItGoes(): Promise<void> {
    while (this.#gate) await this.#gate;
  }

  async pass<T>(send: () => Promise<T>, isAws: boolean, does?: string): Promise<T> {
    await this.untilItGoes();
    const carryOut = () => {
      const sent = send();
      this.#left.add(sent);
      return sent.finally(() => this.#left.delete(sent));
    };
    const what = this.#befall(this.requests++, does);
    if (what === undefined || (!isAws && ofAws.includes(what))) return carryOut();
    const [, seconds] = /^takes (\d+) s$/.exec(what) ?? [];
    if (seconds !== undefined) await this.#sleep(Number(seconds) * 1_000);
    if (what === 'refused') throw awsFailure();
    if (what === 'dies before' || what === 'stalls before') await this.#stop(what);
    if (what === 'answer lost') return carryOutTwice(carryOut);
    const answer = await settled(carryOut);
    if (what === 'failed after') throw awsFailure();
    if (what === 'silent') {
      await this.#sleep(SILENCE_MS);
      throw silence();
    }
    if (what === 'dies after' || what === 'stalls after') await this.#stop(what);
    return answer();
  }

  #nextStop(): Promise<State> {
    return new Promise((resolve) => {
      this.#stopped = resolve;
    });
  }

  #stop(what: What): Promise<void> {
    // Another request of this process may have stopped it.
    this.#gate ??= new Promise((resolve) => {
      this.#open = resolve;
    });
    if (what.startsWith('dies')) this.#isDead = true;
    this.#stopped(this.#isDead ? 'died' : 'stalled');
    return this.#gate;
  }
}

/** The name of the SDK's error after its last try. */
export const AWS_FAILED = 'InternalServerError';

function awsFailure(): Error {
  return Object.assign(new Error('AWS fails'), { name: AWS_FAILED, $fault: 'server' });
}

function settled<T>(act: () => Promise<T>): Promise<() => T> {
  return act().then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
}

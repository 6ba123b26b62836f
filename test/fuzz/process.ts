import { AsyncLocalStorage } from 'node:async_hooks';
import { carryOutTwice } from '../../local/world/aws.ts';
import { SILENCE_MS, silence } from '../simulation/aws-troubles.ts';

/** What can befall a process at one of its requests to AWS, to the service, to GitHub or to Slack. */
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

/** The troubles of requests to AWS alone. The service has faults of its own. */
const ofAws: readonly What[] = ['answer lost', 'refused', 'failed after', 'takes 5 s', 'takes 65 s', 'silent'];

/** AWS that is `silent` has carried the request out. */
export type What = (typeof troubles)[number] | 'silent';

/** Trouble at the request with that number, counted from 0. */
export interface Trouble {
  at: number;
  what: (typeof troubles)[number];
}

/**
 * What befalls a request.
 *
 * @param at its number in its process, counted from 0
 * @param does what it changes outside, in words; undefined where it only reads
 */
export type Befall = (at: number, does: string | undefined) => What | undefined;

export const befallenBy =
  (troubles: readonly Trouble[]): Befall =>
  (at) =>
    troubles.find((trouble) => trouble.at === at)?.what;

export type State = 'ended' | 'died' | 'stalled';

const current = new AsyncLocalStorage<Process>();

/**
 * A run of a function or of a command. All that it does outside passes here, so that it can be killed before and after
 * each request, or stand still there while others go on.
 */
export class Process {
  /** How many requests it has made. */
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

  /** Whether it has died or stands still. */
  get isStopped(): boolean {
    return this.#gate !== undefined;
  }

  /** @param act must not throw */
  start(act: () => Promise<void>): Promise<State> {
    const stop = this.#nextStop();
    this.#end = current.run(this, act).then(() => 'ended');
    return this.#untilStop(stop);
  }

  /** Lets a stalled process go on. */
  async resume(): Promise<State> {
    if (this.#isDead) return 'died';
    const stop = this.#nextStop();
    this.#gate = undefined;
    this.#open();
    return this.#untilStop(stop);
  }

  async #untilStop(stop: Promise<State>): Promise<State> {
    const state = await Promise.race([this.#end, stop]);
    // What it had sent by then still arrives, and before anything else happens.
    await Promise.allSettled(this.#left);
    return state;
  }

  /** Carries out a request of the process that runs now. Requests of the test itself just pass. */
  static pass<T>(carryOut: () => Promise<T>, isAws: boolean, does?: string): Promise<T> {
    return Process.current()?.pass(carryOut, isAws, does) ?? carryOut();
  }

  /** Lets time pass for the process that runs now, unless it stands still. */
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
    // Another one of its requests may have stopped it.
    this.#gate ??= new Promise((resolve) => {
      this.#open = resolve;
    });
    if (what.startsWith('dies')) this.#isDead = true;
    this.#stopped(this.#isDead ? 'died' : 'stalled');
    return this.#gate;
  }
}

/** The name of what the SDK throws once it has given up. */
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

import { LeaseLost } from '../../lib/engine/record/job-store.ts';
import { isOfEngine } from '../../lib/engine/run/run-automation.ts';
import type { Runtime } from '../../lib/runtime.ts';

/** A step of a job of the team's automations. */
export interface TrialStep {
  /** Which of the jobs, and which of its steps: `1.3`. It is the same in each run of a test. */
  place: string;
  name: string;
  /** How many requests it made. */
  requests: number;
}

/** What goes wrong, by the places of steps. */
export interface Trouble {
  /** The process ends behind these steps. */
  killedBehind?: ReadonlySet<string>;
  /** The answer to the request with that number is lost. */
  losesAnswerTo?: ReadonlyMap<string, number>;
}

/**
 * Makes trouble for jobs of the team's automations. A killed run writes and sends nothing more, as if it had lost its
 * lease: an error that only the worker itself catches.
 */
export function createTroubles({ killedBehind, losesAnswerTo }: Trouble, isOwn: (automation: unknown) => boolean) {
  const steps: TrialStep[] = [];
  const met = new Set<string>();
  /** How many steps of each job are done. */
  const done = new Map<string, number>();
  let job = '';
  let requests = 0;
  let isDead = false;

  const place = () => `${[...done.keys()].indexOf(job) + 1}.${(done.get(job) ?? 0) + 1}`;

  function ensureAlive(): void {
    if (isDead) throw new LeaseLost(job);
  }

  function note(line: Record<string, unknown>): void {
    ensureAlive();
    const name = String(line.step);
    if (line.message !== 'step done' || !isOwn(line.automation) || isOfEngine(name)) return;
    steps.push({ place: place(), name, requests });
    isDead = killedBehind?.has(place()) ?? false;
    if (isDead) met.add(place());
    done.set(job, (done.get(job) ?? 0) + 1);
    requests = 0;
    ensureAlive();
  }

  return {
    steps,
    /** Where something went wrong. */
    met,
    log: { info: note, warn: ensureAlive, error: ensureAlive } satisfies Runtime['log'],
    async fetch(send: () => Promise<Response>): Promise<Response> {
      ensureAlive();
      const number = ++requests;
      const response = await send();
      if (losesAnswerTo?.get(place()) !== number || met.has(place())) return response;
      met.add(place());
      throw new TypeError('the answer is lost');
    },
    /** Works on a job, until the process that does it ends. */
    async run(jobId: string, work: () => Promise<void>): Promise<void> {
      if (!done.has(jobId)) done.set(jobId, 0);
      job = jobId;
      requests = 0;
      isDead = false;
      await work();
    },
  };
}

import { LeaseLost } from '../../lib/engine/record/job-store.ts';
import { isOfEngine } from '../../lib/engine/run/run-automation.ts';
import type { Runtime } from '../../lib/runtime.ts';

/** A step that a job of the team's automations carried out. */
export interface TrialStep {
  /** The number of the job, and of the step within it: `1.3`. It is the same in each run of a test. */
  place: string;
  name: string;
  /** The number of requests that the step made. */
  requests: number;
}

/** What goes wrong, by the place of a step. */
export interface Trouble {
  /** The process ends after these steps. */
  killedBehind?: ReadonlySet<string>;
  /** The number of the step's request whose answer is lost. */
  losesAnswerTo?: ReadonlyMap<string, number>;
}

/**
 * Causes trouble in jobs of the team's automations. A killed run writes and sends nothing more, as if it had lost its
 * lease, because only the worker itself catches that error.
 */
export function createTroubles({ killedBehind, losesAnswerTo }: Trouble, isOwn: (automation: unknown) => boolean) {
  const steps: TrialStep[] = [];
  const met = new Set<string>();
  /** The number of finished steps of each job. */
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
    /** The places where something went wrong. */
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
    /** Works on a job until it ends or its process is killed. */
    async run(jobId: string, work: () => Promise<void>): Promise<void> {
      if (!done.has(jobId)) done.set(jobId, 0);
      job = jobId;
      requests = 0;
      isDead = false;
      await work();
    },
  };
}

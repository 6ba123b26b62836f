import { setImmediate } from 'node:timers/promises';
import { InLine, Interruption, NeedsOperator, RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import type { CommandSteps } from '../../triggers/steps.ts';
import { type CustomContext, createCustomSteps } from './custom-steps.ts';
import type { Taking } from './step-names.ts';
import { catchingStrays, strayOf } from './strays.ts';
import { ThrownByTeam } from './thrown.ts';

/**
 * Runs code with the steps of a team's automation. What ends a step ends the run, also if the code catches it or does not
 * wait for the step: it must not go on as if the step were done, or had failed for good. A step without `await` could
 * be under way when the job ends, so each step begins and ends by itself, before the code returns.
 *
 * @param file where the code is, for people
 */
export async function withCustomSteps(
  job: Job,
  steps: JobSteps,
  context: CustomContext,
  file: string,
  run: (own: CommandSteps) => Promise<string>,
): Promise<string> {
  const ends: unknown[] = [];
  const stray = strayOf(file, context, { jobId: job.id }, (error) => ends.push(error));
  let underWay = undefined as { step: string; ended: Promise<unknown> } | undefined;
  let hasReturned = false;

  const taking: Taking = (step, take) => {
    const result = begin(step, take);
    // Code that does not wait for the step must not make a stray of it: it is in `ends`.
    result.catch(() => {});
    return result;
  };

  async function begin<T>(step: string, take: () => Promise<T>): Promise<T> {
    if (hasReturned) stray(outOfTurn(`the step '${step}' begins after run has returned`));
    else if (underWay) ends.push(outOfTurn(`the step '${step}' begins while '${underWay.step}' is under way`));
    if (ends.length > 0) throw ends[0];
    const taken = take();
    underWay = { step, ended: taken.catch((error: unknown) => ends.push(error)) };
    try {
      return await taken;
    } finally {
      underWay = undefined;
    }
  }

  const code = async () => run(createCustomSteps(job, steps, context, taking));
  const said = await catchingStrays(stray, code).catch((error: unknown) => {
    ends.push(error instanceof Interruption ? error : new ThrownByTeam(error));
    return '';
  });
  hasReturned = true;
  if (underWay) ends.push(outOfTurn(`run returned while the step '${underWay.step}' was under way`));
  await underWay?.ended;
  // Strays are known after this turn of the event loop.
  await setImmediate();
  if (ends.length > 0) throw ends.find(isWait) ?? ends[0];
  return said;
}

/** A wait comes first: a creation without an answer is sent again, and the next run comes to the same mistake. */
const isWait = (end: unknown) => end instanceof RetryAt || end instanceof InLine;

const outOfTurn = (what: string) =>
  new NeedsOperator(`${what}. Steps run one after the other: await each, in a list with for (const one of all)`);

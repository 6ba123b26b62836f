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
 * Runs code with the steps of a custom automation. If a step ends the run, the run ends even if the code catches the
 * error or does not await the step: the code must not continue as if the step were done, or had failed for good. A step
 * without `await` could still be running when the job ends, so steps run one at a time, and all end before the code
 * returns.
 *
 * @param file the path of the code, for people
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
    // Code that does not await the step must not turn its error into a stray; `ends` already has it.
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
  // Strays become known after this turn of the event loop.
  await setImmediate();
  if (ends.length > 0) throw ends.find(isWait) ?? ends[0];
  return said;
}

/**
 * True for a wait, which precedes other ends: an unanswered creation is sent again, and the next run meets the same
 * mistake.
 */
const isWait = (end: unknown) => end instanceof RetryAt || end instanceof InLine;

const outOfTurn = (what: string) =>
  new NeedsOperator(`${what}. Steps run one after the other: await each, in a list with for (const one of all)`);

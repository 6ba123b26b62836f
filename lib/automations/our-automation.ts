import type { Job } from '../engine/record/job.ts';
import type { JobKind } from '../engine/record/job-kind.ts';
import type { Automation } from '../engine/run/automation.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import type { Outcome } from '../engine/run/tell-person.ts';
import type { CommandSteps } from '../triggers/steps.ts';
import type { JobInput } from '../triggers/trigger.ts';
import type { Context } from './context.ts';
import { withCustomSteps } from './custom/with-custom-steps.ts';

/** The context of a run of a built-in automation, besides its steps. */
export type RunContext = Context & { job: Job };

/** A built-in automation. A worker creates an `Automation` from it. */
export interface OurAutomation extends Pick<Automation, 'name'> {
  of(context: Context): Omit<Automation, 'name'>;
}

/**
 * Defines a built-in automation with the steps of the engine. Its `run` is like a team's, with the context as a third
 * argument.
 */
export const defineRun = <Input extends JobInput>(
  { name, inputOf }: JobKind<Input>,
  run: (input: Input, steps: JobSteps, context: RunContext) => Promise<string | Outcome>,
): OurAutomation => ({
  name,
  of: (context) => ({ run: async (job, steps) => run(inputOf(job), steps, { ...context, job }) }),
});

/** Defines a built-in automation that only needs the steps of custom automations. */
export const defineSimpleRun = <Input extends JobInput>(
  jobs: JobKind<Input>,
  run: (input: Input, steps: CommandSteps) => Promise<string>,
): OurAutomation =>
  defineRun(jobs, (input, steps, { job, ...context }) =>
    withCustomSteps(job, steps, context, `lib/automations/${jobs.name}`, (own) => run(input, own)),
  );

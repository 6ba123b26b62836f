import type { Job } from '../engine/record/job.ts';
import type { JobKind } from '../engine/record/job-kind.ts';
import type { Automation } from '../engine/run/automation.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import type { Outcome } from '../engine/run/tell-person.ts';
import type { CommandSteps } from '../triggers/steps.ts';
import type { JobInput } from '../triggers/trigger.ts';
import type { Context } from './context.ts';
import { withCustomSteps } from './custom/with-custom-steps.ts';

/** What a run of ours may use besides its steps. Each takes what it needs. */
export type RunContext = Context & { job: Job };

/** An automation of ours: what a worker makes an `Automation` of. */
export interface OurAutomation extends Pick<Automation, 'name'> {
  of(context: Context): Omit<Automation, 'name'>;
}

/**
 * An automation of ours with the steps of the engine. Its `run` is written as a team's, with what else it may use as a third
 * argument.
 */
export const defineRun = <Input extends JobInput>(
  { name, inputOf }: JobKind<Input>,
  run: (input: Input, steps: JobSteps, context: RunContext) => Promise<string | Outcome>,
): OurAutomation => ({
  name,
  of: (context) => ({ run: async (job, steps) => run(inputOf(job), steps, { ...context, job }) }),
});

/** An automation of ours that needs no more than the steps of a team's. */
export const defineSimpleRun = <Input extends JobInput>(
  jobs: JobKind<Input>,
  run: (input: Input, steps: CommandSteps) => Promise<string>,
): OurAutomation =>
  defineRun(jobs, (input, steps, { job, ...context }) =>
    withCustomSteps(job, steps, context, `lib/automations/${jobs.name}`, (own) => run(input, own)),
  );

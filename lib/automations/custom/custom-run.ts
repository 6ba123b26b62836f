import { dateIn } from '../../dates.ts';
import { NeedsOperator, StepFailed } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import type { Automation } from '../../engine/run/automation.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { refusedFields } from '../../faults/refused-fields.ts';
import type { Asker } from '../../triggers/steps.ts';
import type { Context } from '../context.ts';
import { catchingStrays, strayOf } from './strays.ts';
import { ThrownByTeam } from './thrown.ts';
import { withCustomSteps } from './with-custom-steps.ts';

/** Creates the custom automations for a worker. Their code is loaded with the first of their jobs. */
export function customAutomations(context: Context): Automation[] {
  const { custom } = context;
  return custom.list.map(({ name }) => ({
    name,
    async run(job, steps) {
      const file = `automations/${name}.ts`;
      const stray = strayOf(file, context, { jobId: job.id });
      const [{ input }, run] = await catchingStrays(stray, () => Promise.all([custom.on(name), custom.run(name)]));
      const read = input.safeParse(job.input);
      if (!read.success) {
        const fields = refusedFields(read.error.issues);
        throw new NeedsOperator(`the input of ${job.id} does not fit ${file} any more: ${fields}`);
      }
      const asker = await askerOf(job, steps, context);
      const done: unknown = await withCustomSteps(job, steps, { ...context, asker }, file, (own) =>
        run(read.data, own),
      ).catch((error) => {
        if (!(error instanceof ThrownByTeam)) throw error;
        const words = error.inWords(file, custom);
        if (!error.isMistake) throw new StepFailed(words);
        throw new NeedsOperator(words);
      });
      if (typeof done !== 'string' || done === '') {
        throw new NeedsOperator(`run of ${file} returned no text; return in a few words what was done`);
      }
      return done;
    },
  }));
}

/** Returns who gave a command, and when. A command contains only a handle, but people know each other by name. */
async function askerOf({ asked, createdAt }: Job, steps: JobSteps, { people }: Context): Promise<Asker | undefined> {
  if (!asked?.by) return undefined;
  const { in: platform, id } = asked.by;
  const name = (await people.nameOf(asked.by, steps)) ?? asked.byName ?? id;
  const date = dateIn(await people.timeZoneOf(asked.by, steps), createdAt);
  return { in: platform, id, name, at: new Date(createdAt).toISOString(), date };
}

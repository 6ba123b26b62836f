import { NeedsOperator, StepFailed } from '../../engine/record/interruption.ts';
import type { Automation } from '../../engine/run/automation.ts';
import { refusedFields } from '../../faults/refused-fields.ts';
import type { Context } from '../context.ts';
import { withCustomSteps } from './custom-steps.ts';
import { catchingStrays, strayOf } from './strays.ts';
import { ThrownByTeam } from './thrown.ts';

/** A team's automations, as a worker runs them. Their code is loaded for the first of their jobs. */
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
      // A command has the person's handle, which few people know.
      const byName = job.asked?.by && ((await context.people.nameOf(job.asked.by, steps)) ?? job.asked.byName);
      const named = { ...job, ...(byName !== undefined && { asked: { ...job.asked, byName } }) };
      const done: unknown = await withCustomSteps(named, steps, context, file, (own) => run(read.data, own)).catch(
        (error) => {
          if (!(error instanceof ThrownByTeam)) throw error;
          const words = error.inWords(file, custom);
          if (!error.isMistake) throw new StepFailed(words);
          throw new NeedsOperator(`${words}. Repair the file, then run npx partner-relay replay ${job.id}`);
        },
      );
      if (typeof done !== 'string' || done === '') {
        throw new NeedsOperator(`run of ${file} returned no text; return in a few words what was done`);
      }
      return done;
    },
  }));
}

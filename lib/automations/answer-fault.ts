import * as z from 'zod/mini';
import { NotDone } from '../engine/record/interruption.ts';
import { type Automation, defineAutomation, defineJobs } from '../engine/run/automation.ts';

/** What is wrong with a command, and what to type instead. */
export const faultJobs = defineJobs('answer-fault', z.object({ fault: z.string() }));

/** Tells a person that their command cannot be read. */
export function answerFault(): Automation {
  return defineAutomation(faultJobs, async ({ fault }) => {
    throw new NotDone(fault);
  });
}

import { NotDone } from '../../engine/record/interruption.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import { faultJobs } from './draft.ts';

/** Tells a person that their command cannot be read. */
export function answerFault(): Automation {
  return defineAutomation(faultJobs, async ({ fault }) => {
    throw new NotDone(fault);
  });
}

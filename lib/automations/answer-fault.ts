import type { Automation } from '../jobs/automation.ts';
import { NotDone } from '../jobs/interruption.ts';

export const ANSWER_FAULT = 'answer-fault';

/** What a job of this automation knows. */
export interface CommandFault {
  /** What is wrong with a command, and what would be right. */
  fault: string;
}

/** Tells somebody that their command cannot be read. */
export const answerFault: Automation = {
  name: ANSWER_FAULT,
  run: async ({ input }) => {
    throw new NotDone((input as unknown as CommandFault).fault);
  },
};

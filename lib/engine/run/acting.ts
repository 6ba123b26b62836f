import type { CreatingTool } from '../../config/mcp.ts';
import type { Fields, ToolCall } from '../../config/template.ts';
import type { ToolAnswer } from '../../config/tool-answer.ts';
import type { Job } from '../record/job.ts';
import type { Journal } from '../record/journal.ts';
import type { Privacy, Sealing } from '../record/privacy.ts';
import type { ReplacedTable } from '../record/replaced-table.ts';
import type { Once } from './once.ts';
import type { CallingRun } from './partner-calls.ts';

/** Acts as the people who ask, through their linked accounts. The engine's only access to these accounts. */
export interface Acting extends Sealing {
  open(run: ActingRun): ActingSteps;
}

/** The part of a job's run that tool calls need. */
export interface ActingRun extends Pick<CallingRun, 'connection' | 'lane' | 'budget' | 'clock' | 'sleep' | 'deadline'> {
  journal: Journal;
  once: Once;
  privacy: Privacy;
  replacedTable: ReplacedTable;
  /** The earliest time at which the job's event may have happened; epoch milliseconds. */
  happenedAt: number;
  /** True if strangers can read the message. Then it omits the service's own words. */
  isPublic: boolean;
  /** True if the job is parked when this run fails. */
  isLastAttempt: boolean;
  /**
   * Called before the relay reads anything private. @throws {Interruption} for a job that intake did not make as it is
   */
  ensureSignedByIntake: () => Promise<void>;
  /** Reports an error in the relay's own code that does not stop the job. */
  bug: (error: unknown) => void;
}

/** The tool calls of one run, for any person. */
export interface ActingSteps {
  as(person: NonNullable<NonNullable<Job['asked']>['by']>): AsPerson;
  /** Reports the results of the run's calls to the budget. @throws {BudgetUnavailable} */
  flush(): Promise<void>;
}

/** Tool calls as one person, each carried out once per job. */
export interface AsPerson {
  /** Returns whether the person has linked an account; `dead` if the relay can no longer use it. */
  linked(): Promise<'no' | 'dead' | 'yes'>;
  /**
   * Calls a tool that changes nothing.
   * @param keep selects the part of the answer that the job needs later; keep it small, because it is journalled
   */
  read<Kept>(step: string, call: ToolCall, keep: (answer: ToolAnswer) => Kept): Promise<Kept>;
  /**
   * Calls a tool that changes something. Calls it once at most, unless the tool declares that it may be repeated.
   * @throws {NotDone} if the tool says why it did not do it, or if the outcome is unknown
   */
  change<Kept>(step: string, call: ToolCall, keep: (answer: ToolAnswer) => Kept): Promise<Kept>;
  /**
   * Carries out a command with the tool that relay.config.ts names for it.
   * @param fields the tool's input. After a lost answer, the relay searches for their `marker`
   * @param unclear what the person should check if the outcome is unknown: `this was logged`
   * @returns the id of the created object, if relay.config.ts says where the answer has it and it looks like an id
   * @throws {NotDone} as `change` does
   */
  write(step: string, use: CreatingTool, fields: Fields, unclear: string): Promise<string | number | undefined>;
}

const CHANGES = 'tool ';
const READS = 'reading tool ';

/** Returns the name under which the journal has the call of a tool that changes something. */
export const changeBy = ({ tool }: ToolCall): string => `${CHANGES}${tool}`;
export const readingBy = ({ tool }: ToolCall): string => `${READS}${tool}`;

/** True if the journal's name of a step's call stands for a tool that changes something. */
export const changesByTool = (calls: string): boolean => calls.startsWith(CHANGES);

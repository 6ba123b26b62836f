import type { CreatingTool } from '../../config/mcp.ts';
import type { Fields, ToolCall } from '../../config/template.ts';
import type { ToolAnswer } from '../../config/tool-answer.ts';
import type { Job } from '../record/job.ts';
import type { Journal } from '../record/journal.ts';
import type { Privacy, Sealing } from '../record/privacy.ts';
import type { ReplacedTable } from '../record/replaced-table.ts';
import type { Once } from './once.ts';
import type { CallingRun } from './partner-calls.ts';

/** Acting as the people who ask, through accounts that they have linked. The engine knows nothing else of it. */
export interface Acting extends Sealing {
  open(run: ActingRun): ActingSteps;
}

/** One run of a job, as far as calls of tools depend on it. */
export interface ActingRun extends Pick<CallingRun, 'connection' | 'lane' | 'budget' | 'clock' | 'sleep' | 'deadline'> {
  journal: Journal;
  once: Once;
  privacy: Privacy;
  replacedTable: ReplacedTable;
  /** When the job's event happened at the earliest; epoch milliseconds. */
  happenedAt: number;
  /** Whether strangers read the message. If so, it omits the service's own words. */
  isPublic: boolean;
  /** Before anything of a person is read. @throws {Interruption} for a job that intake did not make as it is */
  ensureSignedByIntake: () => Promise<void>;
  /** Reports an error of the relay's own code that the job goes on after. */
  bug: (error: unknown) => void;
}

/** The calls of one run, as any person. */
export interface ActingSteps {
  as(person: NonNullable<NonNullable<Job['asked']>['by']>): AsPerson;
  /** Lets the budget know how the calls of the run ended. @throws {BudgetUnavailable} */
  flush(): Promise<void>;
}

/** Calls of tools as one person, each carried out once per job. */
export interface AsPerson {
  /** Whether the person has linked an account, and whether it can still be used. */
  linked(): Promise<'no' | 'dead' | 'yes'>;
  /**
   * Reads a tool that changes nothing.
   * @param keep what of the answer the job needs later; small, because it is journalled
   */
  read<Kept>(step: string, call: ToolCall, keep: (answer: ToolAnswer) => Kept): Promise<Kept>;
  /**
   * Calls a tool that changes something: once at most, unless the tool says of itself that it may be repeated.
   * @throws {NotDone} if the tool says why it did not do it, and where it is unknown whether it did
   */
  change<Kept>(step: string, call: ToolCall, keep: (answer: ToolAnswer) => Kept): Promise<Kept>;
  /**
   * Carries out a command with the tool that relay.config.ts names for it.
   * @param fields with the `marker` by which what it made is looked for after a lost answer
   * @param unclear what the person may have to find out: `this was logged`
   * @returns the id of what it made, where the configuration says where to find that, and it looks like one
   * @throws {NotDone} as `change` does
   */
  write(step: string, use: CreatingTool, fields: Fields, unclear: string): Promise<string | number | undefined>;
}

const CHANGES = 'tool ';
const READS = 'reading tool ';

/** What the journal says that a step calls. */
export const changeBy = ({ tool }: ToolCall): string => `${CHANGES}${tool}`;
export const readingBy = ({ tool }: ToolCall): string => `${READS}${tool}`;

/** Whether a step, by what it calls, was a call that changes something. */
export const changesByTool = (calls: string): boolean => calls.startsWith(CHANGES);

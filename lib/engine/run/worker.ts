import type { Budget } from '../../service/budget/budget.ts';
import type { StrangerShare } from '../../service/budget/stranger-share.ts';
import type { Breakers } from '../../service/connection/breakers.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { Table } from '../../state/table/table.ts';
import type { JobQueue } from '../line/queue.ts';
import type { WaitingLines } from '../line/waiting-line.ts';
import type { Waited } from '../record/history.ts';
import type { Job } from '../record/job.ts';
import type { JobSignatures } from '../record/job-signatures.ts';
import type { JobStore } from '../record/job-store.ts';
import type { ProcessRuns } from '../record/process-runs.ts';
import type { ReplacedTable } from '../record/replaced-table.ts';
import type { Acting } from './acting.ts';
import type { Automation } from './automation.ts';
import type { Ending } from './ending.ts';
import type { SendNews, StepNews } from './once.ts';
import type { CallNews } from './partner-calls.ts';
import type { Replies } from './tell-person.ts';

export interface Worker {
  table: Table;
  jobs: JobStore;
  /** The runs of this process. */
  runs: ProcessRuns;
  queue: JobQueue;
  lines: WaitingLines;
  budget: Budget;
  breakers: Breakers;
  replacedTable: ReplacedTable;
  strangers: StrangerShare;
  connection: (name: string) => Connection | undefined;
  acting: Acting;
  signatures: Pick<JobSignatures, 'isSigned'>;
  automation: (name: string) => Automation | undefined;
  replies: Replies;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Returns a number between 0 and 1, for the jitter of retries. */
  random: () => number;
  report: (news: JobNews) => void;
}

/** News of a job, for logs and metrics. It never has a payload. */
export type JobNews =
  | ({ job: Job } & (StepNews | SendNews | CallNews))
  | { news: 'continues'; job: Job; wait: Waited }
  | { news: 'run ended'; job: Job; ending: Ending }
  | { news: 'bug'; job: Job; error: unknown }
  | { news: 'untold'; job: Job; error: unknown }
  | { news: 'line stands still'; job: Job; error: unknown };

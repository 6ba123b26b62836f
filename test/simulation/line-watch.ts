import type { Attributes } from './expressions.ts';

/** A moment at which nobody was on the way to a line with jobs. */
export interface Stranded {
  /** Virtual time. */
  at: number;
  connection: string;
}

/** The jobs of one connection. */
interface Jobs {
  standing: Set<string>;
  /** Called from the line, until their run has put them back or ended them. */
  called: Set<string>;
  /** That a worker has claimed, until its run ends. */
  inHand: Set<string>;
}

/**
 * Watches what docs/decisions/0015-waiting-line.md promises: a line with jobs and a slot to come always has somebody on the
 * way to it, whether messages are still to be worked on or not. Somebody is a called job, or a job in the hands of a worker,
 * whose run moves the line on. The lines of operations that fail are left out: they wait for a probe.
 */
export class LineWatch {
  readonly stranded: Stranded[] = [];
  readonly #connections = new Map<string, Jobs>();
  readonly #connectionOf = new Map<string, string>();

  /** Takes note of a record that was written. */
  wrote({ sk, id, connection, status, line, slotAt }: Attributes): void {
    if (sk?.S !== 'job' || id?.S === undefined || connection?.S === undefined) return;
    const jobs = this.#jobsOf(connection.S);
    this.#connectionOf.set(id.S, connection.S);
    const isInLine = line?.S?.split('#').length === 2 && (status?.S === 'waiting' || status?.S === 'running');
    put(jobs.standing, id.S, isInLine && slotAt === undefined && status?.S === 'waiting');
    put(jobs.called, id.S, isInLine && slotAt !== undefined);
    if (status?.S === 'running') jobs.inHand.add(id.S);
  }

  /** Takes note of a worker that is done with its message. */
  runEnded(jobId: string, at: number): void {
    const connection = this.#connectionOf.get(jobId);
    if (connection === undefined) return;
    const { standing, called, inHand } = this.#jobsOf(connection);
    inHand.delete(jobId);
    if (standing.size > 0 && called.size === 0 && inHand.size === 0) this.stranded.push({ at, connection });
  }

  #jobsOf(connection: string): Jobs {
    const jobs = this.#connections.get(connection) ?? { standing: new Set(), called: new Set(), inHand: new Set() };
    this.#connections.set(connection, jobs);
    return jobs;
  }
}

function put(set: Set<string>, id: string, isIn: boolean): void {
  if (isIn) set.add(id);
  else set.delete(id);
}

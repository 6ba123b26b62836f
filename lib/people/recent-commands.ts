/** A person who types the same command again within this time may have done so by mistake. */
export const ASKED_WITHIN_MS = 120_000;

/** Nobody types more within that time. It keeps the item of a flood small. */
const MOST = 30;

/** A command that its person is asked about before it is repeated. */
export interface RepeatKey {
  /** A digest of the place and of what the command sets. Another command that sets it takes its place. */
  sets: string;
  /** A digest of the whole command. */
  command: string;
  /** The event that the job is made from. */
  happened: string;
}

/** A command that was given, its job, and when, in epoch milliseconds. */
export interface RecentCommand extends RepeatKey {
  jobId: string;
  at: number;
}

export const areRecent = (given: readonly RecentCommand[], now: number): RecentCommand[] =>
  given.filter(({ at }) => at + ASKED_WITHIN_MS > now).slice(-MOST);

/** @returns the same command, if it was given as another job and was the last that set what it sets */
export function repeatedBy(key: RepeatKey, jobId: string, recent: readonly RecentCommand[]): RecentCommand | undefined {
  return recent.find((before) => before.sets === key.sets && before.command === key.command && before.jobId !== jobId);
}

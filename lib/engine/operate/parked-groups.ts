import { isOutcomeUnknown, type Job } from '../record/job.ts';

export interface ParkedGroup {
  /** The reason without its variable parts. Undefined for the group of all other causes. */
  cause: string | undefined;
  outcomeUnknown: boolean;
  count: number;
  /** The job that can be decided last. What is possible for it is possible for all. */
  last: Job;
  /** The jobs that were parked first. */
  first: [Job, ...Job[]];
}

/** The parts of a reason that differ between jobs: ids, names, times and numbers, but not HTTP statuses. */
const VARIABLE_PARTS: readonly RegExp[] = [
  /https?:\/\/\S+/g,
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi,
  /\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?/g,
  /[\w.-]+\/[\w.-]+#\d+/g,
  /(?<!\w)(?:'[^']*'|"[^"]*"|`[^`]*`)(?!\w)/g,
  /\b[0-9a-f]{20}\b/g,
  /(?<!\b(?:status|answers|answered|with) |\((?=\d{3}\)))\b\d+\b/g,
];

/**
 * Matches what is down, in front of the reason, because one outage stops several operations. A refusal concerns only
 * its own operation.
 */
const WHAT_FAILED = /^(?:[^:]*: )??(?:\S+ is down|[\w-]+(?:\/[\w-]+)+(?: fails on \S+)?): (?!refused with )/;

/** Returns the reason of a job without its variable parts, which groups jobs with the same cause. */
export function causeOf(reason: string): string {
  return VARIABLE_PARTS.reduce((text, part) => text.replaceAll(part, '…'), reason.replace(WHAT_FAILED, ''));
}

/** Returns the job whose request the service can carry out until the later time. Without requests, the second job. */
export function laterOf(one: Job, other: Job): Job {
  const until = ({ parked }: Job) => parked?.open?.until ?? 0;
  return until(one) > until(other) ? one : other;
}

/**
 * Groups parked jobs by cause. Keeps only the first jobs of each group, because there may be thousands.
 *
 * @param pages the jobs in the order in which they were parked
 * @param most the maximum number of groups; the last group has the jobs of all other causes
 * @param kept how many jobs of a group are kept
 */
export async function parkedGroups(pages: AsyncIterable<Job[]>, most: number, kept: number): Promise<ParkedGroup[]> {
  const groups = new Map<string, ParkedGroup>();
  for await (const page of pages) {
    for (const job of page) {
      if (!job.parked) continue;
      const { reason } = job.parked;
      const outcomeUnknown = isOutcomeUnknown(job);
      const cause = causeOf(reason);
      const own = `${outcomeUnknown} ${cause}`;
      const isOther = !groups.has(own) && groups.size >= most - 1;
      const [name, shown] = isOther ? ['other'] : [own, cause];
      const group = groups.get(name) ?? { cause: shown, outcomeUnknown, count: 0, last: job, first: [job] };
      if (group.count > 0 && group.first.length < kept) group.first.push(job);
      group.count += 1;
      group.last = laterOf(group.last, job);
      groups.set(name, group);
    }
  }
  return [...groups.values()];
}

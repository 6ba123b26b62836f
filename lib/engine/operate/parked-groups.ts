import { isOutcomeUnknown, type Job } from '../record/job.ts';

export interface ParkedGroup {
  /** The reason without its variable parts. Undefined for the group of all other causes. */
  cause: string | undefined;
  outcomeUnknown: boolean;
  count: number;
  /** When the last one was parked; epoch milliseconds. */
  lastAt: number;
  /** The jobs that were parked first. */
  first: [Job, ...Job[]];
}

/** Ids, names, times and numbers differ from job to job. An HTTP status does not. */
const VARIABLE_PARTS: readonly RegExp[] = [
  /https?:\/\/\S+/g,
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi,
  /\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?/g,
  /[\w.-]+\/[\w.-]+#\d+/g,
  /(?<!\w)(?:'[^']*'|"[^"]*"|`[^`]*`)(?!\w)/g,
  /\b[0-9a-f]{20}\b/g,
  /(?<!\b(?:status|answers|answered|with) |\((?=\d{3}\)))\b\d+\b/g,
];

/** What does not work, in front of why: one outage stops several operations. A refusal is about its operation. */
const WHAT_FAILED = /^(?:[^:]*: )??(?:\S+ is down|[\w-]+(?:\/[\w-]+)+(?: fails on \S+)?): (?!refused with )/;

/** The reason of a job without its variable parts, so that jobs with the same cause can be grouped. */
export function causeOf(reason: string): string {
  return VARIABLE_PARTS.reduce((text, part) => text.replaceAll(part, '…'), reason.replace(WHAT_FAILED, ''));
}

/**
 * Groups parked jobs by cause. There may be thousands, so only the first jobs of each group are kept.
 *
 * @param pages the jobs in the order in which they were parked
 * @param most the most groups; the last one holds the jobs of all other causes
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
      const group = groups.get(name) ?? { cause: shown, outcomeUnknown, count: 0, lastAt: 0, first: [job] };
      if (group.count > 0 && group.first.length < kept) group.first.push(job);
      group.count += 1;
      group.lastAt = job.wakeAt;
      groups.set(name, group);
    }
  }
  return [...groups.values()];
}

import type { Job } from './job.ts';

/** Parked jobs with one cause. */
export interface ParkedGroup {
  /** The reason without its variable parts. Undefined for the group of all other causes. */
  cause: string | undefined;
  outcomeUnknown: boolean;
  /** The one that was parked first comes first. */
  jobs: [Job, ...Job[]];
}

/** Ids, names, times and numbers differ from job to job. An HTTP status does not. */
const VARIABLE_PARTS: readonly RegExp[] = [
  /https?:\/\/\S+/g,
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi,
  /\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?/g,
  /[\w.-]+\/[\w.-]+#\d+/g,
  /(?<!\w)(?:'[^']*'|"[^"]*"|`[^`]*`)(?!\w)/g,
  /\b[0-9a-f]{20}\b/g,
  /(?<!\bstatus )\b\d+\b/g,
];

/** The reason of a parked job without its variable parts, so that jobs with the same cause can be grouped. */
export function causeOf(reason: string): string {
  return VARIABLE_PARTS.reduce((text, part) => text.replaceAll(part, '…'), reason);
}

/**
 * Groups parked jobs by cause.
 *
 * @param most the most groups; the last one holds the jobs of all other causes
 */
export function parkedGroups(jobs: readonly Job[], most: number): ParkedGroup[] {
  const groups = new Map<string, ParkedGroup>();
  // The same jobs always make the same groups, even if many were parked at one moment.
  for (const job of jobs.toSorted((a, b) => a.wakeAt - b.wakeAt || (a.id < b.id ? -1 : 1))) {
    if (!job.parked) continue;
    const { outcomeUnknown, reason } = job.parked;
    const cause = causeOf(reason);
    const own = `${outcomeUnknown} ${cause}`;
    const isOther = !groups.has(own) && groups.size >= most - 1;
    const key = isOther ? 'other' : own;
    const group = groups.get(key);
    if (group) group.jobs.push(job);
    else groups.set(key, { cause: isOther ? undefined : cause, outcomeUnknown, jobs: [job] });
  }
  return [...groups.values()];
}

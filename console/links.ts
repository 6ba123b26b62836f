import { issueJobs } from '../lib/automations/issue-to-defect/jobs.ts';
import { inBatches } from '../lib/engine/line/queue.ts';
import { heldBy } from '../lib/links/link-life.ts';
import { createLinks } from '../lib/links/links.ts';
import { UnreadableItem } from '../lib/state/table/unreadable-item.ts';
import { findPage, textToFind } from './find-page.ts';
import type { ConsoleRelay } from './relay.ts';

/**
 * Returns the link of one issue by its name, or the links of the issues with the newest jobs. The table has no list of
 * links: docs/decisions/0028-console-reads.md.
 *
 * @throws {HttpError} if the text is too long
 */
export async function listLinks(relay: ConsoleRelay, params: URLSearchParams) {
  const wanted = issueIn(textToFind(params));
  if (/#\d+$/.test(wanted)) {
    const entity = await linksOf(relay).named(wanted);
    return { links: entity === undefined ? [] : [await rowOf(relay, entity, wanted)] };
  }
  if (/^issue-\d+$/.test(wanted)) return { links: [await rowOf(relay, wanted, wanted)] };
  const filter = { automation: issueJobs.name, ...(wanted !== '' && { place: wanted }) };
  const { jobs } = await findPage(relay, filter);
  const issues = new Map(jobs.map(({ input, entity }) => [String(input.entity), entity]));
  return { links: await inBatches([...issues], ([entity, name]) => rowOf(relay, entity, name)) };
}

/** Returns the issue that a person typed: by its name, its address on GitHub, or the key of its link. */
function issueIn(text: string): string {
  const [, name, number] = /^https?:\/\/[^/]+\/([\w.-]+\/[\w.-]+)\/issues\/(\d+)/.exec(text) ?? [];
  return name === undefined ? text : `${name}#${number}`;
}

async function rowOf(relay: ConsoleRelay, entity: string, name: string) {
  const link = await linksOf(relay).look(entity);
  const { claim, defect } = heldBy(link);
  const rests = link.life === 'claimed' ? await restOf(relay, link.claim.by) : undefined;
  return {
    issue: link.newest?.name ?? name,
    entity,
    life: link.life,
    title: link.newest?.state.title,
    connection: claim?.connection,
    /** The job that creates the defect, or created it. */
    claimedBy: claim?.by,
    defectId: defect && String(defect.id),
    claimRests: rests,
    /** When the issue last changed on GitHub, according to the events that arrived. */
    changedAt: link.newest && Date.parse(link.newest.version),
    movedTo: link.life === 'moved' ? link.to.name : undefined,
  };
}

type Rest = 'waiting' | 'parked' | 'discarded' | 'gone';

/** Why a claimed issue has no defect yet, from the status of its job. */
async function restOf({ stores: { jobs } }: ConsoleRelay, jobId: string): Promise<Rest | undefined> {
  const job = await jobs.get(jobId).catch((error: unknown) => {
    if (error instanceof UnreadableItem) return undefined;
    throw error;
  });
  if (!job) return 'gone';
  if (job.discarded) return 'discarded';
  return job.status === 'parked' || job.status === 'waiting' ? job.status : undefined;
}

const linksOf = ({ stores: { table, clock } }: ConsoleRelay) => createLinks(table, clock);

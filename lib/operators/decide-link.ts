import { fateOfClaim } from '../automations/issue-to-defect/claim-fate.ts';
import { issueEntity } from '../automations/issue-to-defect/jobs.ts';
import type { RelayConfig } from '../config/schema.ts';
import { findRepository } from '../config/settings.ts';
import type { VerifyCreated } from '../engine/operate/verify-created.ts';
import { openJournal } from '../engine/record/journal.ts';
import { createMarkers, type Markers } from '../engine/record/markers.ts';
import { type Claim, clear, heldBy, type IssueName, type Link, setDefect } from '../links/link-life.ts';
import { createLinks, type Links } from '../links/links.ts';
import { fetchIssue } from '../platforms/github/fetch-issue.ts';
import type { GithubClient } from '../platforms/github/github-client.ts';
import type { Stores } from '../runtime.ts';
import { createDefect } from '../service/partner/operations/defects.ts';

/** The value of `by` for a defect set by a person. */
const A_PERSON = 'a person';

/** A person's decision about an issue's link: its defect, or that it has none. */
export type LinkDecision =
  /** With `steal`, the defect may have the marker of another issue or job. */
  { set: string | number; verify: VerifyCreated; steal?: boolean } | 'clear';

interface DecideLinkOptions extends Pick<Stores, 'table' | 'jobs' | 'secrets' | 'clock'> {
  config: RelayConfig;
  /** The operator, for the history of the job that holds the claim. */
  by: string;
}

/**
 * Applies a person's decision about a link. A parked job that holds the claim notices it on resuming.
 * @throws {Error} with what to do, while a running job holds the claim, for a defect that {@link VerifyCreated}
 *   refuses, or for an impossible decision
 */
export async function decideLink(issue: IssueName, decision: LinkDecision, options: DecideLinkOptions): Promise<void> {
  const { jobs, table, by, clock } = options;
  const links = createLinks(table, clock);
  const link = await links.look(issue.entity);
  await apply(issue, decision, link, links, options);
  const { claim } = heldBy(link);
  const job = claim && (await jobs.get(claim.by));
  // This record is for people. If the job has just changed, the link still has the decision.
  if (job) await jobs.noteDecision(job, { at: clock(), by, what: 'linked', reason: inWords(issue, decision) });
}

function inWords({ name }: IssueName, decision: LinkDecision): string {
  return decision === 'clear' ? `${name} has no defect` : `${name} has defect ${decision.set}`;
}

async function apply(
  issue: IssueName,
  decision: LinkDecision,
  link: Link,
  links: Links,
  options: DecideLinkOptions,
): Promise<void> {
  const { config, secrets, clock } = options;
  const { claim } = heldBy(link);
  if (link.life === 'claimed') await verifyClaimRests(link.claim, options);

  if (decision === 'clear') return changed(await links.change(issue.entity, (link) => clear(link, clock()), link));

  // For an issue that came back, this is the decision.
  if (link.life === 'moved' && !link.arrived) {
    const { name } = link.to;
    throw new Error(
      `${issue.name} was transferred to ${name}; run npx partner-relay issue ${name} --set ${decision.set}`,
    );
  }
  const [repository = ''] = issue.name.split('#');
  const configured = findRepository(config, repository);
  if (!configured) throw new Error(`relay.config.ts has no repository ${repository}`);
  const { connection, issueToDefect } = configured;
  const own = await ownMarkers(issue.entity, link.cleared?.times ?? 0, createMarkers(secrets));
  const marker = claim?.marker ?? own[0] ?? '';
  const id = await decision.verify({
    connection,
    operation: createDefect.name,
    scope: issueToDefect ? { project_id: issueToDefect.projectId } : {},
    id: decision.set,
    mayHave: decision.steal ? undefined : [marker, ...own],
  });
  const by = claim?.by ?? A_PERSON;
  changed(await links.change(issue.entity, (link) => setDefect(link, { by, connection, marker }, id), link));
}

/** Returns the markers of all the issue's defects, newest first. Each clearing of the link starts a new marker. */
function ownMarkers(entity: string, cleared: number, markers: Markers): Promise<string[]> {
  const times = Array.from({ length: cleared + 1 }, (_, index) => cleared - index);
  return Promise.all(times.map((each) => markers.of('defect of an issue', entity, each)));
}

/** @throws {Error} while the job is under way */
async function verifyClaimRests({ by }: Claim, { jobs, table, clock }: DecideLinkOptions): Promise<void> {
  const { fate } = await fateOfClaim(by, { jobs, journal: (jobId) => openJournal(table, jobId, clock) });
  if (fate === 'under way') {
    throw new Error(`${by} is creating the defect; wait until it has ended or is parked: npx partner-relay job ${by}`);
  }
}

function changed(link: unknown): void {
  if (!link) throw new Error('the link has just changed; check it and try again');
}

/**
 * Finds an issue by the name that the relay last saw, or that GitHub knows.
 *
 * @param github without it, GitHub is not asked
 * @throws {Error} for text in another format, and for an unknown issue
 */
export async function findIssue(
  text: string,
  { table, clock }: Pick<Stores, 'table' | 'clock'>,
  github: GithubClient | undefined,
): Promise<IssueName> {
  const [, repository, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(text) ?? [];
  if (!repository || !number) throw new Error(`'${text}' is not an issue; expected owner/repo#42`);
  const known = await createLinks(table, clock).named(text);
  if (known !== undefined) return { entity: known, name: text };
  const issue = github && (await fetchIssue(github, { repository, issueNumber: Number(number) }));
  if (issue) return { entity: issueEntity(issue.id), name: text };
  const asked = github
    ? 'and GitHub does not show it'
    : 'and this console cannot ask GitHub: use npx partner-relay issue';
  throw new Error(`the relay has seen no event of ${text} in the last 30 days, ${asked}`);
}

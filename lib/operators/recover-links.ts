import type { Context } from '../automations/context.ts';
import { type Footer, footerOf, reportedState } from '../automations/issue-to-defect/defect-text.ts';
import { issueEntity } from '../automations/issue-to-defect/jobs.ts';
import type { RelayConfig } from '../config/schema.ts';
import { findRepository } from '../config/settings.ts';
import { heldBy, keep, type Link, restore } from '../links/link-life.ts';
import type { GithubIssue } from '../platforms/github/payload.ts';
import type { PartnerClient } from '../service/partner/client.ts';
import { withOverride } from '../service/partner/operation.ts';
import { listDefects } from '../service/partner/operations/defects.ts';
import { pages } from '../service/partner/pages.ts';
import { fetchIssuePage, type IssueCursor } from './issue-pages.ts';

/** A defect whose description ends like the description of an issue's defect. */
interface FooterFound extends Footer {
  connection: string;
  id: string | number;
}

interface DefectList {
  connection: string;
  projectId: string;
  /** How many calls reading the list took. */
  calls: number;
  rows: number;
  /** False if a row has no description, or if the list may be incomplete; then defects may be missing. */
  isComplete: boolean;
}

/** A link to write: the defect has the issue's marker. */
export interface LostLink extends FooterFound {
  issue: string;
  entity: string;
  /** How often the link had been cleared when the defect was created. */
  cleared: number;
  reported: ReturnType<typeof reportedState>;
}

export interface LinksPlan {
  lists: DefectList[];
  lost: LostLink[];
  /** How many defects already have their link. */
  known: number;
  /** The defects about which a person has to decide. */
  left: { defect: FooterFound; why: string }[];
}

export interface RecoverLinksOptions extends Pick<Context, 'config' | 'links' | 'markers' | 'github' | 'clock'> {
  /** Calls a connection within its budget. */
  callOf: (connection: string) => Promise<PartnerClient['call']>;
}

/** Links are rarely cleared more often. Each clearing costs one HMAC for each defect. */
const MOST_CLEARED = 20;

/**
 * Finds links that a lost or restored table lacks, in the descriptions of defects. Writes nothing.
 *
 * A description is not trusted: its marker must belong to the issue named in its last lines, and only the relay can
 * create that marker. The issue's id, from which the marker is derived, comes from GitHub.
 *
 * @throws {PartnerError} if the service does not show its defects, and {Interruption} if GitHub does not show its
 *   issues
 */
export async function planLinks(options: RecoverLinksOptions): Promise<LinksPlan> {
  const { config, links } = options;
  const { lists, found } = await readDefects(options);
  const plan: LinksPlan = { lists, lost: [], known: 0, left: [] };
  const leave = (defect: FooterFound, why: string) => void plan.left.push({ defect, why });

  const configured = found.filter((defect) => {
    const why = notOurs(defect, config);
    if (why !== undefined) leave(defect, why);
    return why === undefined;
  });
  const issues = await readIssues(configured, options);
  const genuine: LostLink[] = [];
  for (const defect of configured) {
    const read = issues.get(defect.issue.toLowerCase());
    const lost = read && (await provenBy(defect, read, options));
    if (lost) genuine.push(lost);
    else leave(defect, read ? notItsMarker(defect) : `GitHub does not show ${defect.issue}`);
  }
  for (const own of Map.groupBy(genuine, ({ entity }) => entity).values()) {
    const link = await links.look(own[0]?.entity ?? '');
    const linked = heldBy(link).defect?.id;
    const newest = Math.max(...own.map(({ cleared }) => cleared));
    const candidates = own.filter(({ cleared }) => cleared === newest);
    for (const defect of own) {
      if (String(defect.id) === String(linked)) plan.known++;
      else if (defect.cleared < newest) leave(defect, `the link of ${defect.issue} was cleared after it was made`);
      else if (candidates.length > 1 && linked === undefined) leave(defect, severalOf(candidates));
      else if (restored(link, defect, 0)) plan.lost.push(defect);
      else leave(defect, inTheWay(link, defect));
    }
  }
  return plan;
}

/** Writes the links that are still missing. @returns the number of links */
export async function recoverLinks(
  lost: readonly LostLink[],
  { links, clock }: Pick<RecoverLinksOptions, 'links' | 'clock'>,
): Promise<number> {
  let written = 0;
  for (const one of lost) {
    const changed = await links.change(one.entity, (link) => {
      const made = restored(link, one, clock());
      return made && (keep(made, one.reported) ?? made);
    });
    if (changed) written++;
  }
  return written;
}

/** The value of `by` for a defect that was found by its description. */
const RECOVERY = 'partner-relay recover';

function restored(link: Link, { connection, marker, id, cleared }: LostLink, at: number): Link | undefined {
  return restore(link, { by: RECOVERY, connection, marker }, id, { times: cleared, at });
}

async function readDefects({ config, callOf }: RecoverLinksOptions) {
  const lists: DefectList[] = [];
  // A defect that is created meanwhile moves others to the next page, so some may be listed twice.
  const found = new Map<string, FooterFound>();
  for (const { connection, projectId } of projectsOf(config)) {
    const operation = withOverride(listDefects, config.connections[connection]?.operations[listDefects.name]);
    const list: DefectList = { connection, projectId, calls: 0, rows: 0, isComplete: true };
    const reading = pages(await callOf(connection), operation, { project_id: projectId });
    for (;;) {
      const page = await reading.next();
      if (page.done) {
        list.isComplete &&= page.value;
        break;
      }
      list.calls++;
      for (const { defect_id: id, description } of page.value.data) {
        list.rows++;
        if (typeof description !== 'string') list.isComplete = false;
        const footer = footerOf(description);
        if (footer) found.set(JSON.stringify([connection, id]), { ...footer, connection, id });
      }
    }
    lists.push(list);
  }
  return { lists, found: [...found.values()] };
}

/** Lists the projects in which issues become defects, each once. */
function projectsOf({ github }: RelayConfig): { connection: string; projectId: string }[] {
  const all = github.repositories.flatMap(({ connection, issueToDefect }) =>
    issueToDefect ? [{ connection, projectId: issueToDefect.projectId }] : [],
  );
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

/** Reads the issues that the defects name, keyed by name in lowercase. */
async function readIssues(defects: readonly FooterFound[], { config, github }: RecoverLinksOptions) {
  const read = new Map<string, GithubIssue>();
  const wanted = Map.groupBy(new Set(defects.map(({ issue }) => issue.toLowerCase())), repositoryOf);
  for (const [name, issues] of wanted) {
    const missing = new Set(issues);
    const repository = findRepository(config, name)?.name ?? name;
    let cursor: IssueCursor | undefined;
    do {
      const page = await fetchIssuePage(github, repository, 'all', cursor);
      for (const issue of page.issues) {
        const key = `${name}#${issue.number}`;
        if (missing.delete(key)) read.set(key, issue);
      }
      cursor = page.next;
    } while (cursor && missing.size > 0);
  }
  return read;
}

/** Returns the link of a defect whose marker the issue can have had. @returns undefined if there is none */
async function provenBy(
  defect: FooterFound,
  issue: GithubIssue,
  { config, markers }: RecoverLinksOptions,
): Promise<LostLink | undefined> {
  const repository = findRepository(config, repositoryOf(defect.issue));
  if (!repository?.issueToDefect) return undefined;
  const entity = issueEntity(issue.id);
  for (let cleared = 0; cleared <= MOST_CLEARED; cleared++) {
    if ((await markers.of('defect of an issue', entity, cleared)) !== defect.marker) continue;
    const reported = reportedState(issue, repository.name, repository.issueToDefect);
    return { ...defect, entity, issue: reported.name, cleared, reported };
  }
  return undefined;
}

const repositoryOf = (issue: string) => issue.replace(/#.*/, '');

function notOurs({ issue, connection }: FooterFound, config: RelayConfig): string | undefined {
  const name = repositoryOf(issue);
  const repository = findRepository(config, name);
  if (!repository?.issueToDefect) return `${name} is not configured for issue-to-defect in relay.config.ts`;
  if (repository.connection === connection) return undefined;
  return `relay.config.ts has ${name} on the connection ${repository.connection}`;
}

const notItsMarker = ({ issue, id }: FooterFound) =>
  `its marker does not belong to ${issue}: the issue was transferred, or the last lines are an imitation. If the defect does belong to it, run npx partner-relay issue ${issue} --set ${id} --steal`;

const severalOf = (candidates: readonly LostLink[]) =>
  `${candidates.map(({ id }) => id).join(' and ')} have the same marker. Close all but one, and run npx partner-relay issue ${candidates[0]?.issue} --set <defect id>`;

function inTheWay(link: Link, { issue, id }: LostLink): string {
  const set = `npx partner-relay issue ${issue} --set ${id}`;
  switch (link.life) {
    case 'made':
      return `the link of ${issue} has defect ${link.defect.id}. If that is wrong, run ${set}`;
    case 'claimed':
      return `the job ${link.claim.by} is creating the defect of ${issue}, and searches for it first`;
    case 'moved':
      return `${issue} was transferred to ${link.to.name}`;
    case 'unreadable':
      return `the link of ${issue} cannot be read. Run ${set}`;
    case 'unclaimed':
      return `the link of ${issue} was cleared after it was made`;
  }
}

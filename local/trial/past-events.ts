import { checklistItemJobs } from '../../lib/automations/complete-checklist-item/draft.ts';
import { issueJobs } from '../../lib/automations/issue-to-defect/draft.ts';
import { findRepository } from '../../lib/config/find-repository.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { findJobs } from '../../lib/engine/operate/find-jobs.ts';
import type { Job, JobDraft } from '../../lib/engine/record/job.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import type { IssueState } from '../../lib/links/issue-state.ts';
import { createLinks } from '../../lib/links/links.ts';
import type { Stores } from '../../lib/runtime.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';

/**
 * What a job was made from: an `issues` payload, or anything else as a job of as many calls. It happened `at`, in epoch
 * milliseconds, `by` a person or an automation.
 */
export type PastEvent = { at: number; by: string } & ({ issue: object } | { job: JobDraft });

const EVERYTHING = { limit: Number.POSITIVE_INFINITY, maxPages: Number.POSITIVE_INFINITY };

/**
 * The events whose jobs made calls, in their order. The journal keeps the newest state of an issue only, so each of its
 * changes is taken to change the defect. Of every other job it keeps the calls; their number is what the budget sees.
 *
 * @param since epoch milliseconds
 */
export async function readPastEvents(
  { table, clock }: Pick<Stores, 'table' | 'clock'>,
  config: RelayConfig,
  since: number,
): Promise<PastEvent[]> {
  const { jobs } = await findJobs(table, { filter: { since }, now: clock(), ...EVERYTHING });
  const links = createLinks(table, clock);
  const events: PastEvent[] = [];
  for (const job of jobs.sort((a, b) => a.createdAt - b.createdAt)) {
    const event = { at: job.createdAt, by: job.cause?.person ?? job.automation };
    const input = job.automation === issueJobs.name ? issueJobs.inputOf(job) : undefined;
    const state = input && !input.backfill ? (await links.look(input.entity)).newest?.state : undefined;
    if (input && state) {
      events.push({ ...event, issue: issuePayload(job, state, { ...input, id: Number(input.entity.slice(6)) }) });
      continue;
    }
    const connection = connectionOf(job, config);
    const journal = await openJournal(table, job.id, clock);
    const sends = journal.entries().flatMap(({ calls, sends }) => (operations.has(calls) && sends ? sends : []));
    const calls = sends.reduce((sum, { older, newest }) => sum + older + newest.length, 0);
    if (calls > 0 && connection !== undefined) events.push({ ...event, job: jobOfCalls(job, connection, calls) });
  }
  return events;
}

/** The connection that the configuration gives the job's repository, or else its own; undefined if it has none. */
function connectionOf({ replyTo, connection }: Job, config: RelayConfig): string | undefined {
  if (replyTo?.in === 'github') return findRepository(config, replyTo.repository)?.connection;
  return connection in config.connections ? connection : undefined;
}

function issuePayload(
  { createdAt, cause, stranger }: Job,
  state: IssueState,
  { id, issueNumber: number, repository }: { id: number; issueNumber: number; repository: string },
): object {
  const time = new Date(createdAt).toISOString();
  const isNew = cause?.event === 'issues.opened';
  return {
    action: isNew ? 'opened' : 'edited',
    issue: {
      ...{ id, number, body: state.body, html_url: state.url, state: state.state, state_reason: state.stateReason },
      title: isNew ? state.title : `${state.title} (${time})`,
      user: { login: state.author },
      author_association: stranger === undefined ? 'MEMBER' : 'NONE',
      created_at: state.createdAt,
      updated_at: time.replace(/\.\d+/, ''),
      labels: state.labels.map((name) => ({ name })),
    },
    repository: { full_name: repository },
    sender: { login: stranger ?? cause?.person ?? state.author },
  };
}

function jobOfCalls({ id, lane, entity, group, summary }: Job, connection: string, calls: number): JobDraft {
  const items = Array.from({ length: calls }, (_, index) => `${index + 1}`);
  const event = { happened: [id], connection, lane, entity, summary, ...(group !== undefined && { group }) };
  return checklistItemJobs.draft({ ...event, input: { items, completed: true } });
}

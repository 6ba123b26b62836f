import * as z from 'zod/mini';
import { type CommandLine, commandLines } from '../commands/comment-lines.ts';
import { findRepository } from '../config/find-repository.ts';
import type { RelayConfig, RepositoryConfig } from '../config/schema.ts';
import type { GithubDelivery } from '../github/delivery.ts';
import { installation, readPayload, repository } from '../github/payload.ts';
import { type JobDraft, jobId } from '../jobs/job.ts';
import { ANSWER_FAULT, type CommandFault } from './answer-fault.ts';
import type { Taken } from './automation.ts';
import { commandJob, type JobCommand } from './command-job.ts';
import { issuePlace } from './issue-place.ts';
import { writtenLine } from './still-written.ts';

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#issue_comment */
const commentPayload = z.object({
  action: z.string(),
  comment: z.object({
    id: z.int(),
    body: z.nullish(z.string()),
    author_association: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    user: z.nullish(z.object({ login: z.string(), type: z.nullish(z.string()) })),
  }),
  issue: z.object({ number: z.int() }),
  sender: z.object({ login: z.string() }),
  repository,
  /** Of `edited`. */
  changes: z.nullish(z.object({ body: z.nullish(z.object({ from: z.nullish(z.string()) })) })),
  installation: z.nullish(installation),
});

type CommentPayload = z.output<typeof commentPayload>;

/** Each line is a job, and GitHub wants its answer within ten seconds. */
const MAX_COMMANDS = 20;
/** https://docs.github.com/en/graphql/reference/enums#commentauthorassociation */
const COLLABORATORS = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/**
 * `/done`, `/undo` and `/log` in comments on issues and pull requests. A job is the comment and the line, so that an
 * edit does nothing again which stands there still; one that changes or takes away a command gives none, for the
 * relay could not tell a correction from a second command.
 */
export function takeComment({ event, payload }: GithubDelivery, config: RelayConfig): Taken | undefined {
  if (event !== 'issue_comment') return undefined;
  const action = String(payload.action);
  if (action !== 'created' && action !== 'edited') return { ignored: `a comment that is ${action} changes nothing` };
  const read = readPayload(event, commentPayload, payload);
  const settings = findRepository(config, read.repository.full_name);
  if (!settings?.completeChecklistItem && !settings?.logTime) {
    return { ignored: `${read.repository.full_name} takes no commands from comments in relay.config.ts` };
  }
  const now = commandsIn(read.comment.body, settings);
  const before = action === 'edited' ? commandsIn(read.changes?.body?.from ?? read.comment.body, settings) : [];
  const lines = new Set(now.map(({ line }) => line));
  if (before.some(({ line, parsed }) => 'command' in parsed && !lines.has(line))) {
    return { ignored: 'an edit that changes a command gives none: a new comment is needed' };
  }
  const known = new Set(before.map(({ line }) => line));
  const added = [...new Map(now.map((one) => [one.line, one])).values()].filter(({ line }) => !known.has(line));
  if (added.length === 0) return { ignored: 'a comment without a command for this repository' };
  const { user, author_association } = read.comment;
  if (!user || user.type === 'Bot') return { ignored: 'a comment of a bot gives no commands' };
  // Whoever may edit comments of others must not speak in their name.
  if (read.sender.login !== user.login) return { ignored: 'a comment that somebody else edits gives no commands' };
  if (!COLLABORATORS.has(author_association)) {
    return { ignored: `@${user.login} is no collaborator, of whom alone commands are taken` };
  }
  const taken = added.slice(0, MAX_COMMANDS);
  if (added.length > taken.length) {
    const fault = `${MAX_COMMANDS} commands in one comment are the most; ${added.length - taken.length} were not read. Please write another comment.`;
    taken.push({ line: 'too many', parsed: { fault } });
  }
  return { jobs: taken.map((one) => draft(read, user.login, one, settings)) };
}

/** Those for which the repository is switched on. */
function commandsIn(
  body: string | null | undefined,
  { completeChecklistItem, logTime }: RepositoryConfig,
): CommandLine[] {
  return commandLines(body ?? '').filter(({ line }) => (/^\/log/i.test(line) ? logTime : completeChecklistItem));
}

function draft(
  { action, comment, issue, repository, installation }: CommentPayload,
  login: string,
  { line, parsed }: CommandLine,
  settings: RepositoryConfig,
): JobDraft {
  const happened = [comment.id, line];
  const place = issuePlace(settings, repository.full_name, issue.number, installation);
  if ('command' in parsed) {
    // A delivery may be days late.
    const askedAt = Date.parse(action === 'edited' ? comment.updated_at : comment.created_at);
    const by = { in: 'github', id: login } as const;
    const written = writtenLine(comment.id, line);
    return commandJob(parsed.command as JobCommand, { ...place, happened, by, askedAt, comment: written });
  }
  const input: CommandFault = { fault: parsed.fault };
  const summary = `@${login}: a command that cannot be read`;
  return { ...place, id: jobId(ANSWER_FAULT, ...happened), automation: ANSWER_FAULT, summary, input: { ...input } };
}

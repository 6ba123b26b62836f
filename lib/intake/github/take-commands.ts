import { faultJobs } from '../../automations/answer-fault/jobs.ts';
import { issuePlace } from '../../automations/github-trigger.ts';
import type { CommandOrigin } from '../../automations/verb.ts';
import type { ParsedCommand, Verbs } from '../../automations/verbs.ts';
import { commandLines } from '../../commands/comment-lines.ts';
import type { Languages } from '../../commands/day-names.ts';
import { excerpt } from '../../commands/fault.ts';
import type { RelayConfig, RepositoryConfig } from '../../config/schema.ts';
import { digest } from '../../digest.ts';
import type { Taken } from '../../engine/line/accept-taken.ts';
import type { JobDraft, Unproven, WrittenLine } from '../../engine/record/job.ts';
import { MOST_UNDER_WAY } from '../../people/turns.ts';
import { isBot, unprovenAuthor } from '../../platforms/github/association.ts';
import type { Payload } from '../../platforms/github/payload.ts';
import { SENTENCE_END } from '../../text.ts';

/** A line of a comment that has the form of a command. */
interface CommandLine {
  line: string;
  parsed: ParsedCommand;
}

/** The limit of jobs under way for each person: lib/people/turns.ts. */
const MAX_COMMANDS = MOST_UNDER_WAY;
/** Counts all lines together, because each item is a call to the service. */
const MAX_ITEMS = 50;
/** A line that is not a command yet may become one. */
const EDIT = '\n\nIf you correct it in this comment, Partner Relay reads it again.';

/**
 * Drafts the jobs of a comment's commands. Comment and line identify a job, so an edit does not repeat the lines that
 * it keeps. An edit that changes or removes a command creates no jobs, because the relay cannot distinguish a
 * correction from a second command.
 */
export function takeCommands(
  read: Payload<'issue_comment'>,
  settings: RepositoryConfig,
  config: RelayConfig,
  verbs: Verbs,
): Taken {
  // An edit does not change which lines are in doubt.
  const commandsIn = commandsOf(verbs, settings, config.slack?.languages ?? [], Date.parse(read.comment.created_at));
  const now = commandsIn(read.comment.body);
  const before = read.action === 'edited' ? commandsIn(read.changes?.body?.from ?? read.comment.body) : [];
  const lines = new Map(now.map((one) => [one.line, one]));
  if (before.some(({ line, parsed }) => 'command' in parsed && !lines.has(line))) {
    return 'an edit that changes a command is ignored; write a new comment';
  }
  const known = new Map(before.map((one) => [one.line, one]));
  const added = [...lines.values()].filter(({ line }) => !known.has(line));
  if (added.length === 0) return 'a comment without a command for this repository';
  const { user, author_association } = read.comment;
  if (!user || isBot(user)) return 'commands in comments of bots are ignored';
  // People who may edit others' comments must not give commands in their names.
  if (read.sender.login !== user.login) return 'commands in a comment that another person edited are ignored';
  const [taken, left] = withinBounds(added, [...known.values()]);
  if (left[0]) {
    const fault = `A comment can have at most ${MAX_COMMANDS} commands and ${MAX_ITEMS} checklist items. Nothing was done from ${excerpt(left[0].line)} on. Write a new comment for the rest.`;
    taken.push({ line: `too many: ${left[0].line}`, parsed: { fault } });
  }
  const unproven = unprovenAuthor(user, author_association);
  const by = { login: user.login, unproven };
  const at = happenedAt(read);
  return taken.flatMap((one, line) => {
    const made = draft(read, by, { ...one, at: at + line }, settings, config, verbs);
    return made ? [{ draft: made, at }] : [];
  });
}

/** Returns when the comment got its current text. */
function happenedAt({ action, comment }: Payload<'issue_comment'>): number {
  return Date.parse(action === 'edited' ? comment.updated_at : comment.created_at);
}

/**
 * @returns the new commands that fit within the limits together with the existing ones, and the rest, beginning with
 *   the first command that does not fit
 */
function withinBounds(added: readonly CommandLine[], known: readonly CommandLine[]): [CommandLine[], CommandLine[]] {
  let room = MAX_ITEMS - known.reduce((sum, one) => sum + itemsIn(one), 0);
  const end = added.findIndex((one, index) => {
    room -= itemsIn(one);
    return room < 0 || known.length + index >= MAX_COMMANDS;
  });
  return end < 0 ? [[...added], []] : [added.slice(0, end), added.slice(end)];
}

function itemsIn({ parsed }: CommandLine): number {
  return 'command' in parsed && 'items' in parsed.command ? parsed.command.items.length : 0;
}

/** Finds the commands in a text that the repository allows. */
function commandsOf(verbs: Verbs, settings: RepositoryConfig, languages: Languages, createdAt: number) {
  const { list, parse } = verbs;
  const certain = (parsed: ParsedCommand): ParsedCommand => {
    const doubt = 'command' in parsed && verbs.of(parsed.command).doubt?.(parsed.command, createdAt);
    return doubt
      ? { fault: `${doubt} If you mean that day, type the command in Slack: there you can confirm it.` }
      : parsed;
  };
  const allowed = list.filter(({ inComments }) => inComments === true || (inComments && settings[inComments]));
  const names = allowed.map(({ verb }) => verb);
  return (body: string | null | undefined): CommandLine[] =>
    commandLines(body ?? '', names).map((line) => ({
      line,
      parsed: forComment(certain(parse(line.slice(1), languages))),
    }));
}

/** Writes a fault as GitHub shows it. */
function forComment(parsed: ParsedCommand): ParsedCommand {
  if (!('fault' in parsed)) return parsed;
  const typed = parsed.fault.replaceAll('{slash} ', '/');
  return { fault: `${typed}${SENTENCE_END.test(typed) ? '' : '.'}${EDIT}` };
}

function draft(
  read: Payload<'issue_comment'>,
  { login, unproven }: { login: string; unproven?: Unproven },
  { line, parsed, at }: CommandLine & { at: number },
  settings: RepositoryConfig,
  config: RelayConfig,
  verbs: Verbs,
): JobDraft | undefined {
  const { comment, issue, repository, installation } = read;
  const happened = [comment.id, line];
  const place = issuePlace(settings, repository.full_name, issue.number, installation);
  if ('fault' in parsed) {
    const summary = `@${login}: a command that cannot be read`;
    const asked = unproven && { asked: { unproven } };
    return faultJobs.draft({ ...place, happened, summary, input: { fault: parsed.fault }, ...asked });
  }
  const origin: CommandOrigin = {
    ...place,
    happened,
    by: { in: 'github', id: login },
    byName: login,
    // The delivery may arrive days late. Each line counts as one millisecond later than the line above.
    askedAt: at,
    comment: writtenLine(comment.id, line),
    unproven,
  };
  return verbs.of(parsed.command).job?.(parsed.command, origin, config);
}

/** Identifies the comment's line of a job for its record, without the text. */
function writtenLine(id: number, line: string): WrittenLine {
  return { id, line: digest(line) };
}

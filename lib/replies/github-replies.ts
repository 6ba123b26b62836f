import type { Page } from '../config/pages.ts';
import { SECOND_MS } from '../dates.ts';
import { digest } from '../digest.ts';
import { parkedToPerson } from '../engine/record/in-plain-words.ts';
import type { Job, ReplyTo } from '../engine/record/job.ts';
import type { Reply } from '../engine/run/reply-steps.ts';
import type { ReplyContent } from '../engine/run/tell-person.ts';
import { commentMark } from '../platforms/github/comment-marks.ts';
import type { IssueComments, MadeComment } from '../platforms/github/issue-comments.ts';
import { linkTo, plainText } from '../platforms/github/plain-text.ts';
import { cutToLength, SENTENCE_END } from '../text.ts';

const calls = 'GitHub comment';
/** GitHub accepts 65,536 characters, but people do not read that much. */
const MAX_LENGTH = 2_000;
/** Added to the answer if the command could be read. */
const EDITS_ARE_NOT_READ =
  '\n\nPartner Relay has read this command and ignores edits of it. To correct it, write a new comment.';

/**
 * Replies to people on GitHub with comments. Only outcomes get a comment, because every comment notifies everyone who
 * follows the issue.
 */
export function createGithubReplies(comments: IssueComments, contact: string) {
  return async function replyOnGithub(
    job: Job,
    place: ReplyTo & { in: 'github' },
    said: ReplyContent,
    pages: readonly Page[],
  ): Promise<Reply<MadeComment> | { calls: string; leftOut: string }> {
    if (said.of === 'waiting') return { calls, leftOut: 'on GitHub, only the outcome is reported' };
    const thread = await comments.for(place);
    if (!thread) return { calls, leftOut: 'there are no GitHub credentials in the secret' };
    const mark = commentMark(digest([job.id, said.of, said.of === 'parked' ? job.generation : 0]));
    return {
      calls,
      find: (since) => thread.find(mark, since),
      make: (mayLeave) => thread.make([words(job, said, contact), ...pages.map(linkTo), mark].join('\n\n'), mayLeave),
    };
  };
}

function words(job: Job, said: Exclude<ReplyContent, { of: 'waiting' }>, contact: string): string {
  switch (said.of) {
    case 'done':
      return `✅ ${quoted(said.text)}`;
    case 'not done': {
      const { verb, at = 0 } = job.asked ?? {};
      // The milliseconds number the commands of a comment. Their text is not quoted: it may be forged, or deleted since.
      const number = at % SECOND_MS;
      const which = verb === undefined || number === 0 ? '' : `Command ${number + 1}: `;
      return `⚠️ ${which}${quoted(said.text)}${SENTENCE_END.test(said.text) ? '' : '.'}${verb === undefined ? '' : EDITS_ARE_NOT_READ}`;
    }
    case 'parked':
      return `🛑 ${parkedToPerson(said.kind, `\`${job.id}\``, plainText(contact))}`;
  }
}

/** Formats text from outside as a sentence without Markdown, HTML and mentions. */
function quoted(text: string): string {
  return plainText(cutToLength(text.charAt(0).toUpperCase() + text.slice(1), MAX_LENGTH, '…'));
}

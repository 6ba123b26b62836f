import { commandLines } from '../commands/comment-lines.ts';
import { SECOND_MS } from '../dates.ts';
import { digest } from '../digest.ts';
import { NotDone, RetryAt } from '../engine/record/interruption.ts';
import type { Asked, Job } from '../engine/record/job.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import type { People } from '../people/people.ts';
import { endsWithCommentMark } from '../platforms/github/comment-marks.ts';
import type { ReadComment } from '../platforms/github/issue-comments.ts';
import { LIFETIME_MS } from '../state/table/expiry.ts';
import type { Context } from './context.ts';
import type { Verbs } from './verbs.ts';
import { confirm, hasActed } from './what-happened.ts';

/**
 * GitHub may deliver a comment before its whole API can return it, so a missing comment counts as deleted only after
 * this time.
 */
const NOT_THERE_YET_MS = 60_000;

/**
 * Ends the job if the command's comment was deleted or changed while the job waited, or if its author or time differs
 * from the event: the webhook secret is enough to forge an event, but not a comment. Each run reads the comment first,
 * until the job has changed something in the service. From then on, the job runs to its end. Without GitHub
 * credentials, or without permission to read comments, the command counts as delivered; `isConfirmed` distinguishes the
 * two.
 *
 * @throws {NotDone | RetryAt}
 */
export async function ensureStillWritten(
  { asked, replyTo, createdAt }: Job,
  steps: JobSteps,
  { comments, people, clock }: Pick<Context, 'comments' | 'people' | 'clock'>,
  verbs: Verbs,
): Promise<void> {
  if (!asked?.comment || replyTo?.in !== 'github') return;
  const thread = await comments.for(replyTo);
  if (!thread || hasActed(steps)) return;
  const comment = await thread.read(asked.comment.id);
  if (comment === undefined) return;
  if (comment && !(clock() - comment.createdAt <= LIFETIME_MS)) throw refused('The comment is more than 30 days old');
  const fault = faultOf(asked, comment, verbs, people);
  if (fault === undefined) {
    confirm(steps);
    return;
  }
  const isLateEnough = clock() >= createdAt + NOT_THERE_YET_MS;
  if (fault.mayPass && !isLateEnough)
    throw new RetryAt(createdAt + NOT_THERE_YET_MS, 'GitHub does not show the comment with the command yet');
  throw refused(fault.why);
}

const OTHER_TIME = 'GitHub shows that this comment was written at another time than the event says';

const refused = (why: string) => new NotDone(`${why}, so nothing was done`);

/** Returns why a comment does not confirm the command of its event, and whether GitHub's API may only be late. */
function faultOf(
  { by, at, comment: given }: Asked,
  comment: ReadComment | null,
  { inComments }: Verbs,
  people: People,
) {
  if (comment === null) return { why: 'The comment was deleted', mayPass: true };
  if (comment.login?.toLowerCase() !== by?.id.toLowerCase())
    return { why: 'GitHub shows another author for this comment', mayPass: false };
  if (people.isAnother(comment.login ?? '', comment.accountId)) {
    const why = `@${comment.login} is not the GitHub account that Partner Relay knows by this name`;
    return { why, mayPass: false };
  }
  // A forged event may name the relay's own account, or present a bot as a person.
  if (comment.isByBot || endsWithCommentMark(comment.text))
    return { why: 'The comment is by a program, and only people can give commands', mayPass: false };
  const isThere = commandLines(comment.text, inComments).some((line) => digest(line) === given?.line);
  if (!isThere) return { why: 'The comment no longer has this command', mayPass: true };
  // An edit that keeps the command moves `updatedAt`, so any time up to it is possible. The milliseconds are the number
  // of the command's line: GitHub's times have none.
  const second = at === undefined ? Number.NaN : at - (at % SECOND_MS);
  if (!(second >= comment.createdAt && second <= comment.updatedAt)) return { why: OTHER_TIME, mayPass: true };
  return undefined;
}

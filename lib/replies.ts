import type { RelayConfig } from './config/schema.ts';
import type { IssueComments } from './github/issue-comments.ts';
import { createGithubReplies } from './github/replies.ts';
import type { Job } from './jobs/job.ts';
import type { Replies, ReplyContent } from './jobs/tell-person.ts';
import type { Secrets } from './secrets/secrets.ts';
import { createSlackReplies } from './slack/replies.ts';
import type { SlackApi } from './slack/slack-api.ts';

export interface RepliesOptions {
  config: RelayConfig;
  comments: IssueComments;
  /** Undefined where relay.config.ts has no slack. */
  slack: SlackApi | undefined;
  clock: () => number;
  fetch: typeof globalThis.fetch;
  secrets: Secrets;
}

/** Replies to the person who asked for a job, on the platform where they asked. */
export function createReplies({ config, comments, slack, clock, fetch, secrets }: RepliesOptions): Replies {
  const { contact } = config;
  const apiUrl = config.slack?.apiUrl;
  const onGithub = createGithubReplies(comments, contact);
  const inSlack =
    slack && apiUrl !== undefined && createSlackReplies({ slack, clock, apiUrl, fetch, secrets, contact });
  return async (job, said) => {
    const replyTo = placeOf(job, said);
    if (replyTo?.in === 'github' && said.of !== 'link awaited') return onGithub(job, replyTo, said);
    if (replyTo?.in === 'slack' && inSlack) return inSlack(job, replyTo, said);
    return { calls: 'reply', leftOut: 'relay.config.ts no longer has slack' };
  };
}

/** An account is linked in Slack, so its holder is told there. */
function placeOf({ replyTo }: Job, said: ReplyContent): Job['replyTo'] {
  if (said.of !== 'link awaited' || replyTo?.in === 'slack' || said.holder.in !== 'slack') return replyTo;
  return { in: 'slack', userId: said.holder.id };
}

import type { RelayConfig } from './config/schema.ts';
import type { IssueComments } from './github/issue-comments.ts';
import { createGithubReplies } from './github/replies.ts';
import type { Replies } from './jobs/tell-person.ts';
import { createSlackReplies } from './slack/replies.ts';
import type { SlackApi } from './slack/slack-api.ts';

export interface RepliesOptions {
  config: RelayConfig;
  comments: IssueComments;
  /** Undefined where relay.config.ts has no slack. */
  slack: SlackApi | undefined;
  clock: () => number;
  fetch: typeof globalThis.fetch;
}

/** Replies to the person who asked for a job, on the platform where they asked. */
export function createReplies({ config, comments, slack, clock, fetch }: RepliesOptions): Replies {
  const { contact } = config;
  const apiUrl = config.slack?.apiUrl;
  const onGithub = createGithubReplies(comments, contact);
  const inSlack = slack && apiUrl !== undefined && createSlackReplies({ slack, clock, apiUrl, fetch, contact });
  return async (job, said) => {
    const { replyTo } = job;
    if (replyTo?.in === 'github') return onGithub(job, replyTo, said);
    if (replyTo?.in === 'slack' && inSlack) return inSlack(job, replyTo, said);
    return { calls: 'reply', leftOut: 'relay.config.ts no longer has slack' };
  };
}

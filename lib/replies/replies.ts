import { pageOf } from '../config/pages.ts';
import type { Replies } from '../engine/run/tell-person.ts';
import type { IssueComments } from '../platforms/github/issue-comments.ts';
import type { SlackApi } from '../platforms/slack/slack-api.ts';
import type { Runtime, Stores } from '../runtime.ts';
import { createGithubReplies } from './github-replies.ts';
import { createSlackReplies } from './slack-replies.ts';

interface RepliesOptions extends Pick<Runtime, 'config' | 'clock' | 'fetch'>, Pick<Stores, 'secrets'> {
  comments: IssueComments;
  /** Undefined if relay.config.ts has no slack. */
  slack: SlackApi | undefined;
}

/** Replies to the person who requested a job, on the platform where they asked. */
export function createReplies({ config, comments, slack, clock, fetch, secrets }: RepliesOptions): Replies {
  const { contact } = config;
  const apiUrl = config.slack?.apiUrl;
  const onGithub = createGithubReplies(comments, contact);
  const inSlack =
    slack && apiUrl !== undefined && createSlackReplies({ slack, clock, apiUrl, fetch, secrets, contact });
  return async (job, said) => {
    const { replyTo } = job;
    const about = said.of === 'done' ? (said.about ?? []) : [];
    const pages = about.flatMap((thing) => pageOf(config, job.connection, thing) ?? []);
    if (replyTo?.in === 'github') return onGithub(job, replyTo, said, pages);
    if (replyTo?.in === 'slack' && inSlack) return inSlack(job, replyTo, said, pages);
    return { calls: 'reply', leftOut: 'relay.config.ts no longer has slack' };
  };
}

import type { RelayConfig } from '../../config/schema.ts';
import { movedInWords, movedRepositories } from '../github/moved-repositories.ts';
import { plainSection } from './messages.ts';
import { createNoticePosts, type NoticePostsOptions } from './notice-posts.ts';

/** Tells the contact's channel that a repository has another name than in relay.config.ts, and again after a month. */
export function createMovedNotices({
  config,
  log,
  ...options
}: NoticePostsOptions & { config: RelayConfig; log: Pick<Console, 'warn'> }) {
  const { table, slack, channel } = options;
  const posts = createNoticePosts(options);
  return {
    /** Never fails: what could not be told is told by a later run. */
    async tell(): Promise<void> {
      try {
        if (!(await slack.isThere())) return;
        for (const moved of await movedRepositories(table, config)) {
          const notice = `moved ${moved.name} ${moved.calledNow}`;
          const known = await posts.read(notice);
          if (known?.ts === undefined) await posts.post(notice, known, [plainSection(movedInWords(moved))]);
        }
      } catch (error) {
        log.warn({
          message: 'the contact channel could not be told of a moved repository',
          channel,
          error: String(error),
        });
      }
    },
  };
}

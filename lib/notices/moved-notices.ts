import type { RelayConfig } from '../config/schema.ts';
import { movedInWords, movedRepositories } from '../platforms/github/moved-repositories.ts';
import { plainSection } from '../platforms/slack/messages.ts';
import { createNoticePosts, type NoticePostsOptions } from './notice-posts.ts';

/** Tells the contact's channel that a repository's name differs from relay.config.ts, and again after a month. */
export function createMovedNotices({ config, ...options }: NoticePostsOptions & { config: RelayConfig }) {
  const posts = createNoticePosts(options);
  return {
    tell: (): Promise<void> =>
      posts.tryToTell('of a moved repository', async () => {
        for (const moved of await movedRepositories(options.table, config)) {
          const notice = `moved ${moved.name} ${moved.calledNow}`;
          const known = await posts.read(notice);
          if (known?.ts === undefined) await posts.post(notice, known, [plainSection(movedInWords(moved))]);
        }
      }),
  };
}

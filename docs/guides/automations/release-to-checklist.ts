import { github, type Run } from 'partner-relay';
import * as z from 'partner-relay/zod';

const ITEM = 101;

export const on = github('release.published', {
  input: { tag: z.string() },
  job: ({ release }) =>
    release.prerelease
      ? 'a prerelease completes nothing'
      : { happened: [release.id], at: release.published_at, input: { tag: release.tag_name } },
});

export const run: Run<typeof on> = async ({ tag }, { call }) => {
  await call('complete', 'work-items/checklist/items/complete', { item_id: ITEM, is_completed: true });
  return `completed checklist item ${ITEM} for ${tag}`;
};

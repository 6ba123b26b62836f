import { hmac, type Run, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';

const PROJECT = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';
const alert = z.object({ issue_id: z.string(), title: z.string(), web_url: z.string() });

export const on = webhook({
  verify: hmac({ header: 'sentry-hook-signature', encoding: 'hex' }),
  body: z.object({ action: z.literal('triggered'), data: z.object({ event: alert }) }),
  input: { issue: z.string(), title: z.string(), url: z.string() },
  job: ({ data: { event } }) => ({
    happened: [event.issue_id],
    input: { issue: event.issue_id, title: event.title, url: event.web_url },
  }),
});

export const run: Run<typeof on> = async ({ issue, title, url }, { create, say }) => {
  const { id } = await create('defect', 'defects/create', { project_id: PROJECT, title, description: url });
  await say('tell', { channel: 'C0PLATFORM' }, `Sentry ${issue} is defect ${id}: ${title}`);
  return `created defect ${id}`;
};

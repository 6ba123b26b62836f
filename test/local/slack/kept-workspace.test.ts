import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type SlackStandIn, startSlackStandIn } from '../../../local/slack/stand-in.ts';
import { newFolder } from '../../new-folder.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const CHANNEL = 'C0GENERAL';
let folder: string;
let now: number;
let slack: SlackStandIn;
beforeEach(async () => {
  folder = newFolder();
  now = NOON;
  slack = await start();
});
afterEach(() => slack.close());

const start = () => startSlackStandIn({ clock: () => now, botToken: 'xoxb-kept', file: join(folder, 'slack.json') });

async function restart(): Promise<void> {
  await slack.close();
  slack = await start();
}

/** To the stand-in that runs now. Here its port differs after a restart, because fetch would reuse a connection. */
const post = (url: string, body: object) =>
  fetch(slack.url + new URL(url).pathname, { method: 'POST', body: JSON.stringify(body) });
const call = (method: string, fields: Record<string, string>) =>
  fetch(`${slack.url}/api/${method}`, {
    method: 'POST',
    headers: { authorization: 'Bearer xoxb-kept' },
    body: new URLSearchParams(fields),
  });

it('messages, forms and response URLs of the stand-in survive a restart', async () => {
  await call('chat.postMessage', { channel: CHANNEL, text: 'first' });
  const view = { type: 'modal', title: { type: 'plain_text', text: 'Form' }, blocks: [] };
  await call('views.open', { trigger_id: slack.makeTriggerId('U0MIRA001'), view: JSON.stringify(view) });
  const [source] = slack.messages;
  if (!source) throw new Error('nothing was posted');
  const ofCommand = slack.makeResponseUrl({ userId: 'U0MIRA001', channelId: CHANNEL });
  const ofButton = slack.makeResponseUrl({ userId: 'U0MIRA001', channelId: CHANNEL, source });
  // What the command line asks for is a request too. Made here, it is kept with the next one.
  await call('chat.postMessage', { channel: CHANNEL, text: 'second' });
  const { messages, views } = structuredClone({ messages: slack.messages, views: slack.views });
  await restart();
  expect(slack).toMatchObject({ messages, views });

  expect((await post(ofCommand, { text: 'answer' })).status).toBe(200);
  expect((await post(ofButton, { text: 'done', replace_original: true })).status).toBe(200);
  await restart();
  expect(slack.messages.map(({ text }) => text)).toEqual(['done', 'second', 'answer']);
});

it('a response URL has as many uses after a restart as before, and expires', async () => {
  const url = slack.makeResponseUrl({ userId: 'U0MIRA001', channelId: CHANNEL });
  for (let use = 0; use < 4; use += 1) expect((await post(url, { text: String(use) })).status).toBe(200);
  await restart();
  expect((await post(url, { text: 'fifth' })).status).toBe(200);
  expect((await post(url, { text: 'sixth' })).status).toBe(404);
  now += 31 * 60_000;
  await restart();
  expect((await post(url, { text: 'late' })).status).toBe(404);
});

import { countFunctions, countRequests, type Walk, walk } from './instrument.ts';

countFunctions();
const { startRelay } = await import('../relay.ts');
const { issueEvent } = await import('../issue-events.ts');
const { slackRequest } = await import('../requests.ts');
const { TEAM_ID } = await import('../../local/slack/workspace.ts');
// With dynalite, because other tables lose answers, which costs requests.
const relay = await startRelay({ tableOnWire: true });
countRequests();

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';

const issue = (action: string, id: number, seconds: number) => () =>
  relay.post('issues', issueEvent(action, { id, seconds, title: `after ${seconds} seconds` }));

function log(note: string): () => Promise<Response> {
  const asked = { userId: 'U0MIRA001', channelId: 'C0GENERAL' };
  return () => {
    const command = {
      command: '/pm',
      text: `log 1h today ${CHECKOUT} ${note}`,
      team_id: TEAM_ID,
      user_id: asked.userId,
      channel_id: asked.channelId,
      response_url: relay.slack.makeResponseUrl(asked),
      trigger_id: relay.slack.makeTriggerId(asked.userId),
    };
    const { headers, body } = slackRequest(command, relay.clock.now);
    return fetch(relay.slackUrl, { method: 'POST', headers, body: String(body) });
  };
}

/** The walk of the second event counts. A first event of its kind, in the same minute, has warmed up the functions. */
const events: Record<string, (() => Promise<{ status: number }>)[]> = {
  'issue opened': [issue('opened', 1, 0), issue('opened', 2, 1)],
  'issue edited': [issue('edited', 1, 2), issue('edited', 2, 3)],
  '/pm log': [log('wrote tests'), log('wrote more tests')],
};

const walks: Record<string, Walk> = {};
for (const [name, both] of Object.entries(events)) {
  for (const send of both) {
    walks[name] = await walk(async () => {
      const { status } = await send();
      if (status > 202) throw new Error(`${name} was answered with ${status}`);
      await relay.work();
    });
  }
}
const outcomes = (await relay.jobs('succeeded')).map(({ outcome }) => outcome);
console.log(JSON.stringify({ walks, outcomes }));
process.exit();

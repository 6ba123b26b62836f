import { afterEach, describe, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { linkAccount } from '../account-link-browser.ts';
import { type Commands, sandboxCommands } from '../as-person/linked.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { commentPayload } from '../kill/github-payloads.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, MIRA, PLATFORM, told } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let relay: TestRelay;
let github: GithubApi;
afterEach(() => Promise.all([relay.close(), github.close()]));

/** @param sent happens after each message to Slack, before the relay has its answer */
async function start(commands: Commands = sandboxCommands(), sent?: (body: string) => Promise<void>): Promise<void> {
  github = await startGithubApi(() => relay.clock.now);
  const people = [{ github: 'Codertocat', slack: MIRA, email: 'mira.novak@example.com' }];
  const connection = { mcp: { link: 'offered', commands } as const };
  relay = await startRelay({
    config: exampleConfig({}, { connection, people, apiUrl: github.url }),
    sandbox: { mcp: { enabled: true } },
    github: { token: 'ghp_test' },
    runtime: {
      async fetch(input, init) {
        const answer = await fetch(input, init);
        await sent?.(String(init?.body));
        return answer;
      },
    },
  });
}

async function comments(text: string, number = 1): Promise<void> {
  const event = commentPayload(number, text);
  github.written.set(600_000 + number, text);
  await relay.post('issue_comment', event);
}

/** The relay does not know it yet: its access token has expired, and the refresh will be refused. */
function revoke(): void {
  relay.sandbox.mcp.revokeGrants();
  relay.clock.now += 2 * HOUR;
}

const logged = () => relay.sandbox.data.timelogs.slice(3);
const asked = () => told(relay).filter((text) => text.includes('goes on once you have linked your account'));
const ended = async () => (await relay.jobs()).map(({ status, notDone }) => (notDone ? 'not done' : status));

describe('a grant that dies', () => {
  it('is told once, however many jobs wait, and all of them go on after the person has linked again', async () => {
    await start();
    await linkAccount(relay);
    revoke();
    await comments(`/log 4h ${CHECKOUT} from GitHub`);
    for (const hours of [1, 2, 3]) await command(relay, `log ${hours}h ${CHECKOUT}`);
    await command(relay, 'find checkout');
    await relay.work();
    expect(asked()).toHaveLength(1);
    expect(await relay.jobs('waiting')).toHaveLength(5);
    await linkAccount(relay);
    await relay.work();
    expect(await relay.jobs('succeeded')).toHaveLength(5);
    expect(
      logged()
        .map(({ hours }) => hours)
        .sort(),
    ).toEqual([1, 2, 3, 4]);
    expect(asked()).toHaveLength(1);
  });

  it('is told in Slack with a button, although a comment on GitHub found it out', async () => {
    await start();
    await linkAccount(relay);
    revoke();
    await comments(`/log 1h ${CHECKOUT} from GitHub`);
    await relay.work();
    expect(relay.slack.messages.at(-1)).toMatchObject({ blocks: [{}, { type: 'actions' }] });
    expect(github.comments).toEqual([]);
    await linkAccount(relay);
    await relay.work();
    expect(github.comments.at(-1)?.body).toContain('as you');
  });

  it('is told again where the next link dies, too', async () => {
    await start();
    await linkAccount(relay);
    revoke();
    await ask(relay, `log 1h ${CHECKOUT}`);
    await linkAccount(relay);
    revoke();
    await ask(relay, `log 2h ${CHECKOUT}`);
    expect(asked()).toHaveLength(2);
  });

  it('is told by another job where the first could not', async () => {
    await start();
    await linkAccount(relay);
    revoke();
    relay.slack.fail({ method: 'response_url', kind: 'server-error' });
    await ask(relay, `log 1h ${CHECKOUT}`);
    expect(asked()).toEqual([]);
    relay.clock.now += 15 * 60_000;
    await ask(relay, `log 2h ${CHECKOUT}`);
    expect(asked()).toHaveLength(1);
    relay.clock.now += 30 * 60_000;
    await relay.sweep();
    await relay.work();
    expect(asked()).toHaveLength(1);
  });
});

it('all jobs of a person go on, however many newer ones they have asked for since', async () => {
  const { find: _, ...others } = sandboxCommands();
  await start(others);
  await linkAccount(relay);
  revoke();
  for (let hours = 1; hours <= 9; hours++) {
    await command(relay, `log ${hours}h ${CHECKOUT}`);
    await comments(`/log ${hours}h ${CHECKOUT} from GitHub`, hours);
  }
  await relay.work();
  for (let search = 1; search <= 12; search++) await ask(relay, `find ${search}`);
  expect(await relay.jobs('waiting')).toHaveLength(18);
  await linkAccount(relay);
  await relay.work();
  expect(await relay.jobs('waiting')).toEqual([]);
  expect(logged()).toHaveLength(18);
});

it('a link that comes while a job is about to wait is not missed', async () => {
  let isFirst = true;
  await start(sandboxCommands(), async (body) => {
    if (!isFirst || !body.includes('goes on once you have linked')) return;
    isFirst = false;
    await linkAccount(relay);
  });
  await linkAccount(relay);
  revoke();
  await ask(relay, `log 1h ${CHECKOUT}`);
  await relay.work();
  expect(logged()).toHaveLength(1);
});

it('a job that is replayed days after it waited for a link waits for the next one again', async () => {
  const { log, ...others } = sandboxCommands();
  await start({ ...others, ...(log && { log: { ...log, schema: '0'.repeat(20) } }) });
  await linkAccount(relay);
  revoke();
  await ask(relay, `log 1h ${CHECKOUT}`);
  await linkAccount(relay);
  await relay.work();
  const [parked] = await relay.jobs('parked');
  if (!parked) throw new Error('the job is not parked');
  revoke();
  relay.clock.now += 3 * DAY;
  await requeueJob(parked, relay.stores);
  await relay.work();
  expect(await ended()).toEqual(['waiting']);
  expect(asked()).toHaveLength(2);
});

it('a job that is replayed while its link is dead for days waits for a day again', async () => {
  await start();
  await linkAccount(relay);
  revoke();
  await ask(relay, `log 1h ${CHECKOUT}`);
  const [waiting] = await relay.jobs('waiting');
  if (!waiting) throw new Error('the job does not wait');
  const { jobs } = relay.stores;
  const queued = await jobs.requeue(waiting);
  const claimed = queued && (await jobs.claim(queued.id, queued.generation, 'a worker', relay.clock.now + 60_000));
  if (!claimed || 'unclaimed' in claimed) throw new Error('the job cannot be claimed');
  await jobs.park(claimed, { reason: 'for an operator', kind: 'needs an operator', outcomeUnknown: false });
  relay.clock.now += 3 * DAY;
  const [parked] = await relay.jobs('parked');
  if (!parked) throw new Error('the job is not parked');
  await requeueJob(parked, relay.stores);
  await relay.work();
  expect(await ended()).toEqual(['waiting']);
  expect(asked()).toHaveLength(2);
  await linkAccount(relay);
  await relay.work();
  expect(logged()).toHaveLength(1);
});

it('a job of a person who has unlinked waits, and goes on with the next link', async () => {
  await start();
  await linkAccount(relay);
  revoke();
  await ask(relay, `log 1h ${CHECKOUT}`, { channelId: PLATFORM });
  await command(relay, 'unlink');
  relay.clock.now += HOUR;
  await relay.sweep();
  await relay.work();
  expect(told(relay).at(-1)).toContain('No account is linked');
  await linkAccount(relay);
  await relay.work();
  expect(await ended()).toEqual(['succeeded']);
});

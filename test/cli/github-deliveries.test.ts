import { beforeEach, describe, expect, it } from 'vitest';
import { chosenHook } from '../../cli/github-deliveries/chosen-hook.ts';
import { createGithubDeliveries, keptPlace, NotHanded } from '../../cli/github-deliveries/poll.ts';
import { takenEvents } from '../../lib/platforms/github/delivery.ts';
import { createGithubClient } from '../../lib/platforms/github/github-client.ts';
import { createRedeliveryApi, HookRefused, NotNow } from '../../lib/platforms/github/redelivery/redelivery-api.ts';
import { workInNewFolder } from '../new-folder.ts';
import {
  APP,
  HOUR,
  MINUTE,
  ofApp,
  ofOrganization,
  ofRepository,
  type RedeliveryTrial,
  type RedeliveryTrialOptions,
  startRedeliveryTrial,
  TOKEN,
} from '../redelivery-trial.ts';
import { WEBHOOK_SECRET } from '../relay.ts';

let trial: RedeliveryTrial;
let { relay, github, hook, opened } = {} as RedeliveryTrial;
/** Answers instead of the relay; undefined if it cannot be reached. */
let answer: (() => number | undefined) | undefined;
let handed: string[];

beforeEach(async () => {
  workInNewFolder();
  handed = [];
  answer = undefined;
  await start();
});

/** Starts a GitHub that cannot reach the relay. */
async function start(options?: RedeliveryTrialOptions): Promise<void> {
  trial = await startRedeliveryTrial(options);
  ({ relay, github, hook, opened } = trial);
  github.down = () => 502;
  relay.clock.now += MINUTE;
}

const client = () =>
  createGithubClient({
    apiUrl: relay.runtime.config.github.apiUrl,
    secrets: relay.stores.secrets,
    clock: relay.runtime.clock,
    fetch,
  });

/** A new process that brings deliveries to the relay. */
function handing(since = relay.clock.now) {
  const api = createRedeliveryApi(client(), relay.runtime.clock);
  const forwarded = createGithubDeliveries({
    deliveries: () => api(hook.kind === 'integration' ? { ...hook, id: APP.appId } : hook),
    async hand({ headers, body }) {
      if (answer) return answer();
      const { status } = await relay.postRaw(body, headers);
      handed.push(headers['x-github-delivery'] ?? '');
      return status;
    },
    webhookSecret: async () => WEBHOOK_SECRET,
    place: keptPlace(hook, since),
    taken: takenEvents(relay.runtime.custom),
    report: () => {},
    clock: relay.runtime.clock,
  });
  return () => forwarded.poll();
}

const defects = () => relay.sandbox.audit.filter(({ status }) => status === 201).length;

describe("GitHub's deliveries on a machine that GitHub cannot reach", () => {
  it.each([
    ['a repository', { hook: ofRepository(), secret: TOKEN }],
    ['an organization', { hook: ofOrganization(), secret: TOKEN }],
    ['a GitHub App', { hook: ofApp(), secret: APP }],
  ])('the events of the hook of %s arrive in order, signed, and once', async (_, options) => {
    await start(options);
    const poll = handing();
    const guids = [await opened(), await opened(), await opened()];
    expect(await poll()).toBe(3);
    expect(await poll()).toBe(0);
    expect(handed).toEqual(guids);
    await relay.workToTheEnd();
    expect(defects()).toBe(3);
  });

  it('a new process continues where the last one stopped', async () => {
    await handing()();
    const first = await opened();
    await handing()();
    relay.clock.now += 2 * HOUR;
    const second = await opened();
    relay.clock.now += 2 * HOUR;
    expect(await handing(relay.clock.now)()).toBe(1);
    expect(handed).toEqual([first, second]);
  });

  it('an event from before the start does not arrive, but an event that GitHub lists late does', async () => {
    await opened();
    relay.clock.now += MINUTE;
    const poll = handing();
    const late = await opened(hook, 30 * MINUTE);
    const soon = await opened();
    await poll();
    relay.clock.now += 31 * MINUTE;
    await poll();
    expect(handed).toEqual([soon, late]);
  });

  it.each([
    ['is not there', () => undefined],
    ['has a fault', () => 500],
    ['has another secret', () => 401],
  ])('a delivery waits while the relay %s, and so do later ones', async (_, instead) => {
    const poll = handing();
    const guids = [await opened(), await opened()];
    answer = instead;
    await expect(poll()).rejects.toThrow(NotHanded);
    answer = undefined;
    await poll();
    expect(handed).toEqual(guids);
  });

  it('a permanently unreadable delivery does not hold up the others', async () => {
    const poll = handing();
    await github.deliver(hook, 'issues', { action: 'opened', repository: { full_name: 'Codertocat/Hello-World' } });
    const good = await opened();
    expect(await poll()).toBe(2);
    expect(handed.at(-1)).toBe(good);
    expect(await relay.jobs()).toHaveLength(1);
  });

  it('a poll reads no further back than GitHub may list late', async () => {
    github.pageSize = 1;
    const poll = handing();
    for (let count = 0; count < 5; count++) await github.deliver(hook, 'push', { ref: 'main' });
    await poll();
    relay.clock.now += 2 * HOUR;
    await poll();
    github.requests.length = 0;
    await poll();
    expect(github.requests).toHaveLength(1);
  });

  it('a redelivery and an event of another kind do not arrive', async () => {
    const poll = handing();
    const guid = await opened();
    await poll();
    await github.redeliver(guid);
    await github.deliver(hook, 'push', { ref: 'main' });
    expect(await poll()).toBe(0);
  });

  it('the relay does not ask for redeliveries that cannot reach it', async () => {
    const poll = handing();
    const guid = await opened();
    await poll();
    await relay.stores.table.delete({ pk: 'github-hooks', sk: 'repository#codertocat/hello-world' });
    relay.clock.now += HOUR;
    await trial.run();
    expect(github.asked(guid)).toBe(0);
  });

  it('the command waits at a rate limit, and names a missing permission', async () => {
    const poll = handing();
    await opened();
    github.instead = () => ({ status: 429, headers: { 'retry-after': '30' } });
    await expect(poll()).rejects.toThrow(NotNow);
    relay.clock.now += 31_000;
    github.instead = () => ({ status: 404, message: 'Not Found' });
    await expect(poll()).rejects.toThrow(HookRefused);
  });
});

describe('the hook whose deliveries are used', () => {
  const hookOf = (id: number, active = true) => ({ id, active, events: ['issues'] });
  const choose = (words: Parameters<typeof chosenHook>[0]) => chosenHook(words, client(), async () => APP.appId);

  it("the hook is the only one, the named one, or the App's", async () => {
    github.hooks = [hookOf(7)];
    expect(await choose({ repo: 'acme/web' })).toEqual({ kind: 'repository', target: 'acme/web', id: '7' });
    expect(await choose({ org: 'acme', hook: '9' })).toEqual({ kind: 'organization', target: 'acme', id: '9' });
    expect(await choose({ app: true })).toEqual({ kind: 'integration', target: 'app', id: APP.appId });
  });

  it('a fault says what to do', async () => {
    await expect(choose({})).rejects.toThrow('use one of --repo');
    await expect(choose({ repo: 'acme/web', app: true })).rejects.toThrow('use one of --repo');
    await expect(choose({ repo: 'acme/web' })).rejects.toThrow('acme/web has no webhook. Add one in its settings');
    github.hooks = [hookOf(7, false)];
    await expect(choose({ repo: 'acme/web' })).rejects.toThrow('the webhook 7 of acme/web is not active');
    github.hooks = [hookOf(7), hookOf(8, false)];
    await expect(choose({ repo: 'acme/web' })).rejects.toThrow('There are 7 (issues); 8 (not active)');
    github.instead = () => ({ status: 404, message: 'Not Found' });
    await expect(choose({ repo: 'acme/web' })).rejects.toThrow('See docs/redelivery.md#permissions');
  });
});

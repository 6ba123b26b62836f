import { afterEach, describe, expect, it } from 'vitest';
import { createHooks } from '../../lib/github/hooks.ts';
import { keys } from '../../lib/table/keys.ts';
import type { StandInHook } from '../github-hooks-api.ts';
import {
  APP,
  DAY,
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
let { relay, github, hook, ping, opened, run, pass } = {} as RedeliveryTrial;
const start = async (options?: RedeliveryTrialOptions) => {
  trial = await startRedeliveryTrial(options);
  ({ relay, github, hook, ping, opened, run, pass } = trial);
};
afterEach(() => trial.close());

const everywhere = (status: number) => () => status;
const nowhere = () => undefined;
const lists = () => github.requests.filter((request) => request.startsWith('GET') && request.includes('/deliveries'));

describe('a delivery', () => {
  it.each([
    ['500', 500],
    ['no connection', 502],
    ['no answer', 0],
    ['a function URL that is gone', 403],
    ['throttled', 429],
  ])('that failed is asked for again, once: %s', async (_, status) => {
    await start();
    github.down = everywhere(status);
    const guid = await opened();
    github.down = nowhere;
    expect(await run()).toEqual({ hooks: 1, refused: 0, unfinished: 0, redelivered: 1, givenUp: 0 });
    expect(github.statuses(guid)).toEqual([status, 202]);
    expect(await relay.jobs()).toHaveLength(1);
    await pass(30 * MINUTE);
    expect(github.asked(guid)).toBe(1);
  });

  it.each([200, 202, 204, 400, 401, 413])('that we answered with %i is left alone', async (status) => {
    await start();
    github.down = everywhere(status);
    const guid = await opened();
    expect(await run()).toMatchObject({ redelivered: 0 });
    expect(github.asked(guid)).toBe(0);
  });

  it.each([
    ['arrived', 202],
    ['was refused', 401],
  ])('that somebody asked for already, and that %s, is left alone', async (_, status) => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    relay.clock.now += MINUTE;
    github.down = everywhere(status);
    await github.redeliver(guid);
    github.down = nowhere;
    expect(await run()).toMatchObject({ redelivered: 0 });
    relay.clock.now += DAY;
    expect(await run()).toMatchObject({ redelivered: 0 });
  });

  it('that arrived is left alone, though somebody asked for it again and that failed', async () => {
    await start();
    const guid = await opened();
    github.down = everywhere(500);
    relay.clock.now += MINUTE;
    await github.redeliver(guid);
    github.down = nowhere;
    expect(await run()).toMatchObject({ redelivered: 0 });
  });

  it('that arrived is left alone, though the run that saw it ended before it saw the attempt that failed', async () => {
    await start();
    github.pageSize = 1;
    github.down = everywhere(500);
    const guid = await opened();
    github.down = nowhere;
    relay.clock.now += MINUTE;
    await github.redeliver(guid);
    github.instead = () => (lists().length > 1 ? { status: 503 } : undefined);
    expect(await run()).toMatchObject({ unfinished: 1 });
    github.instead = nowhere;
    relay.clock.now += 2 * HOUR;
    await opened();
    expect(await run()).toMatchObject({ unfinished: 0, redelivered: 0 });
  });

  it('is not asked for again before it may have arrived', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    await run();
    github.down = nowhere;
    relay.clock.now += 9 * MINUTE;
    await opened();
    await run();
    expect(github.asked(guid)).toBe(1);
    relay.clock.now += MINUTE;
    await run();
    expect(github.statuses(guid)).toEqual([500, 500, 202]);
  });

  it('that no automation wants is answered with 202 and left alone', async () => {
    await start();
    const guid = await github.deliver(hook, 'push', { repository: { full_name: hook.target } });
    expect(github.statuses(guid)).toEqual([202]);
    expect(await run()).toMatchObject({ redelivered: 0 });
  });

  it('that fails while others arrive is asked for five times, once a run, and then given up', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    github.down = (of) => (of === guid ? 500 : undefined);
    const asked: number[] = [];
    await pass(2 * HOUR, async () => {
      relay.clock.now += MINUTE;
      await opened();
      asked.push(github.asked(guid));
    });
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 5, 5]);
    expect(relay.log.filter(({ message }) => message === 'delivery given up')).toEqual([
      { message: 'delivery given up', hookId: '101', guid, asked: 5, ending: 'given up' },
    ]);
    relay.clock.now += DAY;
    await opened();
    await pass(30 * MINUTE);
    expect(github.asked(guid)).toBe(5);
  });

  it('that GitHub keeps no longer is given up', async () => {
    await start();
    github.down = everywhere(500);
    await opened();
    github.down = nowhere;
    relay.clock.now += 3 * DAY + 1;
    expect(await run()).toMatchObject({ redelivered: 0 });
    expect(github.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
  });

  it('that was kept too long while GitHub could not be asked is given up, and told', async () => {
    await start();
    github.down = everywhere(500);
    await opened();
    github.instead = (request) => (request.startsWith('POST') ? { status: 502 } : undefined);
    await run();
    github.instead = nowhere;
    relay.clock.now += 3 * DAY + 1;
    expect(await run()).toMatchObject({ redelivered: 0, givenUp: 1 });
    expect(await run()).toMatchObject({ givenUp: 0 });
    expect(github.requests.filter((request) => request.startsWith('POST'))).toHaveLength(1);
  });

  it('that vanishes is given up, and told', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    github.instead = (request) => (request.startsWith('POST') ? { status: 404 } : undefined);
    expect(await run()).toMatchObject({ redelivered: 0, givenUp: 1 });
    expect(relay.log).toContainEqual(expect.objectContaining({ guid, ending: 'gone' }));
    expect(await run()).toMatchObject({ givenUp: 0 });
  });

  it('that GitHub does not want to deliver again is asked for another time', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    github.down = nowhere;
    github.instead = (request) => (request.startsWith('POST') ? { status: 422, message: 'spammed' } : undefined);
    expect(await run()).toMatchObject({ redelivered: 0, givenUp: 0, refused: 0, unfinished: 0 });
    github.instead = nowhere;
    await pass(HOUR);
    expect(github.statuses(guid)).toEqual([500, 202]);
  });

  it('that is listed late is found all the same', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened(hook, 20 * MINUTE);
    github.down = nowhere;
    relay.clock.now += MINUTE;
    await opened();
    await run();
    expect(github.asked(guid)).toBe(0);
    relay.clock.now += 5 * MINUTE;
    await opened();
    await pass(HOUR);
    expect(github.statuses(guid)).toEqual([500, 202]);
  });
});

describe('an outage', () => {
  it.each([
    ['our functions fail', 1, 500],
    ['nothing can be reached for longer than five runs', 3, 502],
  ])('loses nothing: %s', async (_, hours, status) => {
    await start();
    const guids = [await opened()];
    github.down = everywhere(status);
    const happening = async () => void guids.push(await opened(hook, guids.length % 4 === 0 ? 3 * MINUTE : 0));
    await pass(hours * HOUR, happening);
    github.down = nowhere;
    await pass(45 * MINUTE, happening);
    expect(guids.filter((guid) => !github.statuses(guid).includes(202))).toEqual([]);
    expect(Math.max(...guids.map(github.asked))).toBeLessThanOrEqual(5);
    expect(await relay.jobs()).toHaveLength(trial.issues);
  });

  it('loses nothing where a hook is quiet, and nothing but a redelivery shows that it is over', async () => {
    await start();
    github.down = everywhere(502);
    const guid = await opened();
    await pass(HOUR);
    github.down = nowhere;
    await pass(HOUR);
    expect(github.statuses(guid).at(-1)).toBe(202);
  });

  it('from before the first delivery that arrived is made up for too', async () => {
    await start({ webhookSecret: '' });
    const guids = [await opened(), await opened()];
    expect(guids.map(github.statuses)).toEqual([[500], [500]]);
    relay.clock.now += 10 * HOUR;
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github-webhook`, { webhookSecret: WEBHOOK_SECRET });
    expect(await run()).toMatchObject({ hooks: 0 });
    await opened();
    // The ping too.
    expect(await run()).toMatchObject({ hooks: 1, redelivered: 3 });
    expect(await relay.jobs()).toHaveLength(3);
  });
});

describe('GitHub', () => {
  it.each([
    ['a repository, with a token', ofRepository, TOKEN, '/repos/Codertocat/Hello-World/hooks/101/deliveries'],
    ['a repository, as an installation', ofRepository, APP, '/repos/Codertocat/Hello-World/hooks/101/deliveries'],
    ['an organization, with a token', ofOrganization, TOKEN, '/orgs/Codertocat/hooks/201/deliveries'],
    ['an organization, as an installation', ofOrganization, APP, '/orgs/Codertocat/hooks/201/deliveries'],
    ['an App, as itself', ofApp, APP, '/app/hook/deliveries'],
    ['an App, as itself though there is a token', ofApp, { ...APP, ...TOKEN }, '/app/hook/deliveries'],
  ])('is asked by its API for the hooks of %s', async (_, of, secret, path) => {
    await start({ hook: of(), secret });
    github.down = everywhere(500);
    await opened();
    github.down = nowhere;
    expect(await run()).toMatchObject({ redelivered: 1, refused: 0 });
    const [, { id } = {}] = github.attempts;
    expect(github.requests.filter((request) => !request.includes('installation'))).toEqual([
      `GET ${path}?per_page=100`,
      `POST ${path}/${id}/attempts`,
    ]);
    expect(await relay.jobs()).toHaveLength(1);
  });

  it('lists page by page; what was read is not read again but for the last hour', async () => {
    await start();
    github.pageSize = 5;
    for (let count = 0; count < 14; count++) {
      github.down = count % 5 === 0 ? everywhere(500) : nowhere;
      await opened();
      relay.clock.now += 10 * MINUTE;
    }
    github.down = nowhere;
    expect(await run()).toMatchObject({ redelivered: 3 });
    expect(lists()).toHaveLength(3);
    github.requests.length = 0;
    expect(await run()).toMatchObject({ redelivered: 0 });
    // 3 redeliveries, 7 of the last hour, and the page on which it ends; there are 4 pages by now.
    expect(lists()).toHaveLength(3);
    expect(await relay.jobs()).toHaveLength(14);
  });

  it.each([
    ['403 and no requests left', { status: 403, headers: { 'x-ratelimit-remaining': '0' } }],
    ['429 and a time', { status: 429, headers: { 'retry-after': '600' } }],
    ['403 and words only', { status: 403, message: 'You have exceeded a secondary rate limit.' }],
  ])('that wants fewer requests is left alone until it is over, in the middle of a list: %s', async (_, refusal) => {
    await start();
    github.pageSize = 2;
    github.down = everywhere(500);
    for (let count = 0; count < 6; count++) {
      await opened();
      relay.clock.now += MINUTE;
    }
    github.down = nowhere;
    github.instead = () => (lists().length > 2 ? refusal : undefined);
    expect(await run()).toMatchObject({ redelivered: 0, unfinished: 1, refused: 0 });
    expect(github.requests).toHaveLength(3);
    expect(await run()).toMatchObject({ redelivered: 0, unfinished: 1 });
    expect(github.requests).toHaveLength(3);
    github.instead = nowhere;
    relay.clock.now += 15 * MINUTE;
    expect(await run()).toMatchObject({ redelivered: 6, unfinished: 0 });
    relay.clock.now += 2 * HOUR;
    await opened();
    await run();
    github.requests.length = 0;
    await run();
    expect(lists()).toHaveLength(1);
  });

  it('that wants fewer redeliveries is asked for the rest at the next run, and only what was asked counts', async () => {
    await start();
    github.down = everywhere(500);
    const guids: string[] = [];
    for (let count = 0; count < 4; count++) guids.push(await opened());
    let posts = 0;
    github.instead = (request) =>
      request.startsWith('POST') && ++posts % 3 === 0 ? { status: 429, headers: { 'retry-after': '60' } } : undefined;
    expect(await run()).toMatchObject({ redelivered: 2, unfinished: 1 });
    relay.clock.now += 15 * MINUTE;
    expect(await run()).toMatchObject({ redelivered: 2, unfinished: 1 });
    expect(guids.map(github.asked)).toEqual([1, 1, 1, 1]);
    github.instead = nowhere;
    for (let count = 0; count < 6; count++) {
      relay.clock.now += 17 * HOUR;
      await run();
    }
    expect(guids.map(github.asked)).toEqual([5, 5, 5, 5]);
  });

  it('keeps a tenth of the rate limit for others', async () => {
    await start();
    github.rateLimit = { limit: 50, remaining: 8, resetAt: relay.clock.now + HOUR };
    github.down = everywhere(500);
    for (let count = 0; count < 6; count++) await opened();
    github.down = nowhere;
    expect(await run()).toMatchObject({ unfinished: 1 });
    expect(github.rateLimit.remaining).toBe(4);
    const before = github.requests.length;
    await pass(30 * MINUTE);
    expect(github.requests).toHaveLength(before);
    relay.clock.now += HOUR;
    await pass(15 * MINUTE);
    expect(await relay.jobs()).toHaveLength(6);
  });

  it.each([
    ['it is down', { status: 503 } as const],
    ['the connection is cut', 'cut' as const],
  ])('is asked another time where %s', async (_, answer) => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    github.down = nowhere;
    github.instead = () => answer;
    expect(await run()).toMatchObject({ unfinished: 1, redelivered: 0 });
    github.instead = nowhere;
    expect(await run()).toMatchObject({ unfinished: 0, redelivered: 1 });
    expect(github.statuses(guid)).toEqual([500, 202]);
  });

  it('whose answer to a request for redelivery is lost is not asked a second time', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    github.down = nowhere;
    github.instead = (request) => (request.startsWith('POST') ? 'cut after the work' : undefined);
    expect(await run()).toMatchObject({ unfinished: 1 });
    github.instead = nowhere;
    await pass(3 * HOUR);
    expect(github.statuses(guid)).toEqual([500, 202]);
  });

  it('whose answers are all lost is asked five times all the same', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    github.instead = (request) => (request.startsWith('POST') ? 'cut after the work' : undefined);
    for (let count = 0; count < 7; count++) {
      await run();
      relay.clock.now += 17 * HOUR;
    }
    expect(github.asked(guid)).toBe(5);
  });

  it('that takes its own cursor no longer is asked from the newest attempt on', async () => {
    await start();
    github.pageSize = 2;
    github.down = everywhere(500);
    for (let count = 0; count < 7; count++) {
      await opened();
      relay.clock.now += 20 * MINUTE;
    }
    github.down = nowhere;
    github.instead = () => (lists().length > 2 ? { status: 503 } : undefined);
    await run();
    const [, cursor = ''] = /(cursor=.+)/.exec(lists().at(-1) ?? '') ?? [];
    github.instead = (request) => (request.includes(cursor) ? { status: 422 } : undefined);
    relay.clock.now += 3 * HOUR;
    expect(await run()).toMatchObject({ unfinished: 1 });
    github.pageSize = 3;
    await pass(30 * MINUTE);
    expect(await relay.jobs()).toHaveLength(7);
  });
});

describe('a hook', () => {
  const headersOf = ({ id, kind, targetId }: StandInHook): Record<string, string> => ({
    'x-github-hook-id': id,
    'x-github-hook-installation-target-type': kind,
    'x-github-hook-installation-target-id': targetId,
  });
  const known = () => relay.stores.table.partition(keys.hook('').pk);
  const push = { repository: { full_name: 'acme/web' }, organization: { login: 'acme' } };

  it.each([
    ['a repository', headersOf(ofRepository()), push, 'acme/web'],
    ['an organization', headersOf(ofOrganization()), push, 'acme'],
    ['an App', headersOf(ofApp()), {}, '12'],
    [
      'an enterprise, which GitHub lists nothing of',
      { ...headersOf(ofApp()), 'x-github-hook-installation-target-type': 'business' },
      push,
    ],
    ['a repository that the payload does not name', headersOf(ofRepository()), {}],
    [
      'a repository with a name that leads elsewhere',
      headersOf(ofRepository()),
      { repository: { full_name: '../../app' } },
    ],
    [
      'an organization with a name that leads elsewhere',
      headersOf(ofOrganization()),
      { organization: { login: 'a/b' } },
    ],
    ['an id that is no number', headersOf(ofRepository('1/../2')), push],
    ['no headers', {}, push],
  ])(
    'is known from the headers and the payload of what it delivers: %s',
    async (_, headers, payload, target?: string) => {
      await start();
      await relay.stores.table.delete(keys.hook('repository#186853002#101'));
      expect((await relay.post('push', payload, headers)).status).toBe(202);
      expect(await known()).toMatchObject(target ? [{ target }] : []);
    },
  );

  it('is not known from what nobody signed', async () => {
    await start();
    const headers = { ...headersOf(ofRepository('102')), 'x-hub-signature-256': 'sha256=00' };
    expect((await relay.post('push', push, headers)).status).toBe(401);
    expect(await known()).toHaveLength(1);
  });

  it('is noted once a day, or when its repository has another name', async () => {
    await start();
    const first = relay.clock.now;
    const headers = headersOf(hook);
    relay.clock.now += DAY - 1;
    await relay.post('push', { repository: { full_name: hook.target } }, headers);
    expect(await known()).toMatchObject([{ seenAt: first, target: hook.target }]);
    await relay.post('push', { repository: { full_name: 'acme/renamed' } }, headers);
    expect(await known()).toMatchObject([{ seenAt: first + DAY - 1, target: 'acme/renamed' }]);
    relay.clock.now += DAY;
    await relay.post('push', { repository: { full_name: 'acme/renamed' } }, headers);
    expect(await known()).toMatchObject([{ seenAt: relay.clock.now }]);
  });

  it('of an App is one, whatever its id', async () => {
    await start({ hook: ofApp(), secret: APP });
    await relay.post('push', push, headersOf({ ...ofApp(), id: '302' }));
    expect(await known()).toHaveLength(1);
  });

  it('that cannot be noted does not keep the delivery from being answered', async () => {
    await start({ environment: { TABLE_NAME: 'no-such-table' } });
    expect((await relay.post('push', push, headersOf(hook))).status).toBe(202);
    expect(relay.log).toContainEqual(expect.objectContaining({ message: 'hook not noted', hookId: hook.id }));
  });

  it.each([
    ['is deleted', (of: StandInHook) => (of.deleted = true), 404],
    ['may not be listed', () => undefined, 403],
  ])('that %s keeps nothing from the others, and the log says what it takes', async (_, breakIt, status) => {
    await start();
    const other = ofRepository('102');
    await ping(other);
    github.down = everywhere(500);
    await opened();
    const guid = await opened(other);
    github.down = nowhere;
    breakIt(hook);
    github.instead = (request) => (status === 403 && request.includes('/101/') ? { status: 403 } : undefined);
    expect(await run()).toMatchObject({ hooks: 2, refused: 1, redelivered: 1 });
    expect(github.statuses(guid)).toEqual([500, 202]);
    expect(relay.log).toContainEqual({
      message: 'GitHub refuses to redeliver for a hook',
      hookId: '101',
      hook: 'repository Codertocat/Hello-World',
      reason: expect.stringMatching(new RegExp(`${status}.*"Webhooks" \\(read and write\\)`)),
    });
  });

  it('that may be listed only is told too, and nothing is counted as asked for', async () => {
    await start();
    github.down = everywhere(500);
    const guid = await opened();
    github.instead = (request) => (request.startsWith('POST') ? { status: 403 } : undefined);
    for (let count = 0; count < 7; count++) expect(await run()).toMatchObject({ refused: 1, redelivered: 0 });
    github.instead = nowhere;
    github.down = nowhere;
    expect(await run()).toMatchObject({ redelivered: 1 });
    expect(github.statuses(guid)).toEqual([500, 202]);
  });

  it('whose list cannot be read fails the run, once the others had their turn', async () => {
    await start();
    const other = ofRepository('102');
    await ping(other);
    github.down = everywhere(500);
    const guid = await opened(other);
    github.down = nowhere;
    github.instead = (request) => (request.includes('/101/') ? { status: 200, message: 'ghp_answer' } : undefined);
    await expect(run()).rejects.toThrow('1 of 2 hooks failed');
    expect(github.statuses(guid)).toEqual([500, 202]);
    expect(relay.log).toContainEqual(
      expect.objectContaining({ hookId: '101', error: expect.stringContaining('list of deliveries cannot be read') }),
    );
    expect(JSON.stringify(relay.log)).not.toContain('ghp_answer');
  });

  it('that is deleted is forgotten after three days, and one that delivers is not', async () => {
    await start();
    const other = ofRepository('102');
    await ping(other);
    hook.deleted = true;
    github.instead = (request) => (request.includes('/102/') ? { status: 404 } : undefined);
    relay.clock.now += 2 * DAY;
    await opened(other);
    expect(await run()).toMatchObject({ hooks: 2, refused: 2 });
    relay.clock.now += DAY + 1;
    expect(await run()).toMatchObject({ hooks: 2, refused: 1 });
    expect(await run()).toMatchObject({ hooks: 1, refused: 1 });
  });

  it('that is quiet is not forgotten as long as GitHub lists it', async () => {
    await start();
    for (let days = 0; days < 40; days += 2) {
      relay.clock.now += 2 * DAY;
      expect(await run()).toMatchObject({ hooks: 1, refused: 0 });
    }
    github.instead = () => ({ status: 404 });
    await run();
    expect(await run()).toMatchObject({ hooks: 1, refused: 1 });
  });

  it('is not forgotten when it delivered meanwhile, nor brought back by a run under which it was forgotten', async () => {
    await start();
    const hooks = createHooks(relay.stores.table, () => relay.clock.now, relay.runtime.log);
    const [seen] = await hooks.known();
    if (!seen) throw new Error('the hook should be known');
    relay.clock.now += DAY;
    await relay.post('push', { repository: { full_name: hook.target } }, headersOf(hook));
    await hooks.forget(seen);
    const [seenAgain] = await hooks.known();
    expect(seenAgain).toMatchObject({ seenAt: relay.clock.now });
    await hooks.forget(seenAgain ?? seen);
    await hooks.keepPlace(seen, { listedTo: relay.clock.now });
    expect(await hooks.known()).toEqual([]);
  });

  it('of another App than that of the secret is told, and not mistaken for its own', async () => {
    await start({ hook: ofApp('13'), secret: APP });
    expect(await run()).toMatchObject({ refused: 1 });
    expect(github.requests).toEqual([]);
    expect(relay.log).toContainEqual(
      expect.objectContaining({ reason: 'it is the hook of the App 13, and the github secret has the App 12' }),
    );
  });

  it('of an App takes its key, and not a token', async () => {
    await start({ hook: ofApp() });
    expect(await run()).toMatchObject({ refused: 1 });
    expect(relay.log).toContainEqual(expect.objectContaining({ reason: expect.stringContaining('appId') }));
  });

  it('with much to do does not keep the others waiting for ever', async () => {
    await start();
    const other = ofRepository('102');
    await ping(other);
    github.down = everywhere(500);
    for (let count = 0; count < 9; count++) await opened();
    const guid = await opened(other);
    github.down = nowhere;
    const slowly = () => trial.runAnew({ sleep: () => relay.runtime.sleep(MINUTE) });
    expect(await slowly()).toMatchObject({ redelivered: 4, unfinished: 2 });
    expect(await slowly()).toMatchObject({ redelivered: 4, unfinished: 1 });
    expect(github.statuses(guid)).toEqual([500, 202]);
  });
});

describe('without what it takes', () => {
  it('is off without credentials, and says so once', async () => {
    await start({ secret: {} });
    const off = { hooks: 1, refused: 0, unfinished: 0, redelivered: 0, givenUp: 0 };
    expect(await run()).toEqual(off);
    expect(await run()).toEqual(off);
    expect(relay.log.filter(({ message }) => String(message).startsWith('redelivery is off'))).toHaveLength(1);
    expect(github.requests).toEqual([]);
  });

  it('needs no secret where nobody uses GitHub', async () => {
    await start({ secret: {}, webhookSecret: '' });
    expect(await run()).toMatchObject({ hooks: 0 });
  });

  it('says that the key of the App cannot be used, and not what it holds', async () => {
    const privateKey = '-----BEGIN PRIVATE KEY-----\nghp_canary';
    await start({ hook: ofApp(), secret: { appId: '12', privateKey } });
    await expect(run()).rejects.toThrow('1 of 1 hooks failed');
    expect(JSON.stringify(relay.log)).toMatch(/nothing can be signed with the privateKey/);
    expect(JSON.stringify(relay.log)).not.toContain('canary');
  });

  it('says nothing of payloads and credentials', async () => {
    await start();
    github.down = everywhere(500);
    await opened();
    await pass(2 * HOUR);
    expect(relay.log.length).toBeGreaterThan(2);
    expect(JSON.stringify(relay.log)).not.toContain('canary');
  });
});

describe('two runs', () => {
  it('at the same moment ask for each delivery once', async () => {
    await start();
    github.down = everywhere(500);
    const guids: string[] = [];
    for (let count = 0; count < 6; count++) guids.push(await opened());
    github.down = nowhere;
    const reports = await Promise.all([trial.runAnew(), trial.runAnew(), trial.runAnew()]);
    expect(guids.map(github.asked)).toEqual(guids.map(() => 1));
    expect(reports.reduce((sum, { redelivered }) => sum + redelivered, 0)).toBe(6);
  });

  it.each([false, true])(
    'of which the first dies at any request lose nothing; carried out: %s',
    async (isCarriedOut) => {
      await start();
      let died = true;
      for (let at = 1; died; at++) {
        relay.clock.now += 2 * HOUR;
        github.down = everywhere(500);
        const guids = [await opened(), await opened()];
        github.down = nowhere;
        died = await trial.runAndDie(at, isCarriedOut);
        await pass(45 * MINUTE);
        for (const guid of guids) {
          expect(github.statuses(guid), `died at request ${at}`).toContain(202);
          expect(github.asked(guid), `died at request ${at}`).toBeLessThanOrEqual(1);
        }
      }
    },
  );
});

import { beforeEach, describe, expect, it } from 'vitest';
import { createHooks } from '../../lib/platforms/github/redelivery/hooks.ts';
import type { StandInHook } from '../github-hooks-api.ts';
import { APP, ofApp, ofOrganization, ofRepository, startRedeliveryTrial, TOKEN } from '../redelivery-trial.ts';
import { WEBHOOK_SECRET } from '../relay.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Trial = Awaited<ReturnType<typeof startRedeliveryTrial>>;
let trial: Trial;
let { relay, github, hook, ping, opened, run, pass } = {} as Trial;
const start = async (...options: Parameters<typeof startRedeliveryTrial>) => {
  trial = await startRedeliveryTrial(...options);
  ({ relay, github, hook, ping, opened, run, pass } = trial);
};
beforeEach(() => start());

const everywhere = (status: number) => () => status;
const nowhere = () => undefined;
const lists = () => github.requests.filter((request) => request.startsWith('GET') && request.includes('/deliveries'));
const posts = () => github.requests.filter((request) => request.startsWith('POST') && request.endsWith('/attempts'));
const hasArrived = (guid: string) => github.statuses(guid).includes(202);

/** Opens issues a minute apart, whose deliveries fail. */
async function failed(count = 1, of = hook, status = 500): Promise<string[]> {
  github.down = everywhere(status);
  const guids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    guids.push(await opened(of));
    relay.clock.now += MINUTE;
  }
  github.down = nowhere;
  return guids;
}
/** One delivery fails. */
const failedOnce = async (of = hook, status = 500) => String(await failed(1, of, status));
/** Some deliveries fail, and a later one arrives, which shows that the relay works again. */
async function failedBefore(count: number, of = hook): Promise<string[]> {
  const guids = await failed(count, of);
  await opened(of);
  return guids;
}

describe('a delivery', () => {
  it.each([
    ['500', 500],
    ['no connection', 502],
    ['no answer', 0],
    ['a function URL that is gone', 403],
    ['throttled', 429],
    ['a wrong webhook secret', 401],
  ])('a failed delivery is requested again, once: %s', async (_, status) => {
    const guid = await failedOnce(hook, status);
    expect(await run()).toEqual({ hooks: 1, refused: 0, unfinished: 0, redelivered: 1, givenUp: 0 });
    expect(github.statuses(guid)).toEqual([status, 202]);
    expect(await relay.jobs()).toHaveLength(1);
    await pass(30 * MINUTE);
    expect(github.asked(guid)).toBe(1);
  });

  it.each([200, 202, 204, 400, 413])('a delivery that the relay answered with %i is ignored', async (status) => {
    await failedOnce(hook, status);
    expect(await run()).toMatchObject({ redelivered: 0 });
  });

  it.each([
    ['arrived', 202],
    ['was refused', 413],
  ])('a delivery that a person redelivered is ignored if it %s then', async (_, status) => {
    const guid = await failedOnce();
    github.down = everywhere(status);
    await github.redeliver(guid);
    github.down = nowhere;
    expect(await run()).toMatchObject({ redelivered: 0 });
    relay.clock.now += DAY;
    expect(await run()).toMatchObject({ redelivered: 0 });
  });

  it.each([0, 2 * HOUR])("a successful delivery is ignored if a person's redelivery fails %i ms later", async (ms) => {
    const guid = await opened();
    await run();
    relay.clock.now += ms + MINUTE;
    await run();
    github.down = everywhere(500);
    await github.redeliver(guid);
    github.down = nowhere;
    relay.clock.now += MINUTE;
    await opened();
    expect(await run()).toMatchObject({ redelivered: 0 });
  });

  it('a delivery that no automation handles is ignored and delays no others', async () => {
    github.down = everywhere(500);
    const push = await github.deliver(hook, 'push', { repository: { full_name: hook.target } });
    const ignored = [push, await ping(hook)];
    const guid = await failedOnce();
    await pass(30 * MINUTE);
    expect(ignored.map(github.asked)).toEqual([0, 0]);
    expect(github.statuses(guid)).toEqual([500, 202]);
  });

  it('a delivery that fails while others succeed is requested five times, once per run, and then given up', async () => {
    const guid = await failedOnce();
    github.down = (of) => (of === guid ? 500 : undefined);
    const asked: number[] = [];
    const happening = async () => {
      relay.clock.now += MINUTE;
      await opened();
      asked.push(github.asked(guid));
    };
    await pass(2 * HOUR, happening);
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 5, 5]);
    const told = 'delivery given up: it fails while others arrive';
    const givenUp = { message: told, hookId: '101', hook: 'repository Codertocat/Hello-World', guid };
    expect(relay.log.filter(({ message }) => message === told)).toEqual([givenUp]);
    expect(relay.metrics.filter((metric) => metric.DeliveriesGivenUp === 1)).toHaveLength(1);
    await pass(DAY, happening);
    expect(github.asked(guid)).toBe(5);
  });

  it('a delivery that always fails does not block the others of a quiet hook', async () => {
    const [poison = '', ...others] = await failed(3);
    github.down = (of) => (of === poison ? 500 : undefined);
    await pass(HOUR);
    expect(others.map(hasArrived)).toEqual([true, true]);
  });

  it.each([
    ['3 days', '', 3],
    ['7 days on GitHub Enterprise Server', '/api/v3', 7],
  ])('a delivery is requested while GitHub keeps it, and reported once after that: %s', async (_, apiPath, days) => {
    await start({ apiPath });
    // GitHub may list a delivery for longer than it redelivers it.
    github.keptForMs = days * DAY + HOUR;
    const first = relay.clock.now;
    await failedOnce();
    github.instead = to(POST, { status: 502 });
    relay.clock.now = first + days * DAY - MINUTE;
    await run();
    expect(posts()).toHaveLength(1);
    relay.clock.now = first + days * DAY + MINUTE;
    expect(await run()).toMatchObject({ redelivered: 0, givenUp: 1 });
    expect(relay.log).toContainEqual(
      expect.objectContaining({ message: 'GitHub no longer keeps what failed in this time' }),
    );
    expect(await run()).toMatchObject({ givenUp: 0 });
    expect(posts()).toHaveLength(1);
  });

  it('a delivery that is listed late is found', async () => {
    github.down = everywhere(500);
    const guid = await opened(hook, 40 * MINUTE);
    github.down = nowhere;
    relay.clock.now += MINUTE;
    await opened();
    await run();
    expect(github.asked(guid)).toBe(0);
    await pass(HOUR, () => opened());
    expect(github.statuses(guid)).toEqual([500, 202]);
  });
});

type Answering = typeof github.instead;
/** Answers only requests that contain a text. */
const to =
  (text: string, answer: ReturnType<Answering>): Answering =>
  (request) =>
    request.includes(text) ? answer : undefined;
const toFailed =
  (nth: number, status: number): Answering =>
  (request) =>
    request.includes(`/${github.attempts[1 + nth]?.id}/`) ? { status } : undefined;
const toToken =
  (text: string): Answering =>
  (request, authorization) =>
    request.includes(text) && authorization === `token ${TOKEN.token}` ? { status: 404 } : undefined;
const afterTwoPages =
  (answer: ReturnType<Answering>): Answering =>
  () =>
    lists().length > 2 ? answer : undefined;
const toThirdPost: Answering = (request) =>
  request.startsWith('POST') && posts().length === 3 ? { status: 429, headers: { 'retry-after': '60' } } : undefined;

const noneLeft = { status: 403, headers: { 'x-ratelimit-remaining': '0' } };
const later = { status: 429, headers: { 'retry-after': '600' } };
const inWords = { status: 403, message: 'You have exceeded a secondary rate limit.' };

const LIST = 'GET /repos/Codertocat/Hello-World/hooks/101/deliveries';
const POST = '/attempts';
const BOTH = { secret: { ...APP, ...TOKEN } };
const done = (redelivered = 0) => ({ unfinished: 0, refused: 0, givenUp: 0, redelivered });
const unfinished = (redelivered = 0) => ({ ...done(redelivered), unfinished: 1 });
const refused = { ...done(), refused: 1 };

/**
 * Troubles of GitHub after three deliveries have failed: GitHub's answer for a while, what each run reports meanwhile,
 * and how often the runs request a page of the list and a redelivery. The runs are `at` these minutes, and the next one
 * is `after` further minutes.
 */
const troubles: [
  title: string,
  answers: Answering,
  reports: ReturnType<typeof done>,
  asked: [lists: number, posts: number],
  but?: { at?: readonly number[]; after?: number; secret?: object; left?: number },
][] = [
  ['503', () => ({ status: 503 }), unfinished(), [1, 0], { after: 0 }],
  ['a cut connection', () => 'cut', unfinished(), [1, 0], { after: 0 }],
  ['422 to the list', to(LIST, { status: 422 }), unfinished(), [1, 0], { after: 0 }],
  ['404 to a cursor', to('cursor', { status: 404 }), unfinished(), [2, 0], { after: 0 }],
  ['422 to a cursor', to('cursor', { status: 422 }), unfinished(), [2, 0], { after: 0 }],
  // In the middle of a list; the rest is refused.
  ['403 and no requests left', afterTwoPages(noneLeft), unfinished(), [3, 0], { at: [0, 0.9] }],
  ['429 and a time', afterTwoPages(later), unfinished(), [3, 0], { at: [0, 9] }],
  ['403 and words only', afterTwoPages(inWords), unfinished(), [3, 0], { at: [0, 0.9] }],
  ['a rate limit to the third redelivery', toThirdPost, unfinished(2), [3, 3]],
  ['502 to a redelivery', to(POST, { status: 502 }), unfinished(), [3, 1]],
  ['a lost answer to a redelivery', to(POST, 'cut after the work'), unfinished(), [3, 1], { left: 2 }],
  ['422 to redeliveries, until they are listed', to(POST, { status: 422 }), done(), [6, 3], { at: [0, 9], after: 1 }],
  ['422 to one redelivery, which the others do not wait for', toFailed(1, 422), done(2), [3, 3]],
  ['404 to one redelivery after a successful one: it is gone', toFailed(0, 404), done(2), [3, 3]],
  // A permission is missing, and the relay gives up nothing.
  ['404 to the first redelivery', to(POST, { status: 404 }), refused, [21, 7], { at: [0, 15, 30, 45, 60, 75, 90] }],
  ['403 to the list, and there is only the App', to(LIST, { status: 403 }), refused, [1, 0], { secret: APP }],
  ['404 to the list for the token: the App asks', toToken('GET'), done(3), [4, 3], BOTH],
  ['404 to a redelivery for the token: the App asks', toToken(POST), done(3), [3, 4], BOTH],
];

it.each(troubles)(
  'no answer of GitHub loses or repeats a delivery: %s',
  async (_, answers, reports, asked, but = {}) => {
    const { at = [0], after = 15, secret, left = 3 - reports.redelivered } = but;
    await start(secret && { secret });
    const guids = await failedBefore(3);
    github.pageSize = 2;
    github.instead = answers;
    const begin = relay.clock.now;
    for (const minutes of at) {
      relay.clock.now = begin + minutes * MINUTE;
      expect(await run()).toEqual({ hooks: 1, ...reports });
    }
    expect([lists().length, posts().length]).toEqual(asked);
    expect(JSON.stringify(relay.log).includes('(read and write)')).toBe(reports.refused > 0);
    github.instead = nowhere;
    relay.clock.now += after * MINUTE;
    expect(await run()).toEqual({ hooks: 1, ...done(left) });
    await pass(3 * HOUR);
    expect(guids.map(github.statuses)).toEqual(guids.map(() => [500, 202]));
    // For the deliveries, only the webhook logs something: the title of a queued job.
    const logged = relay.log.filter(({ message }) => message !== 'job queued');
    expect(JSON.stringify(logged)).not.toContain('canary');
  },
);

describe('an outage', () => {
  it.each([
    { hours: 1, status: 500 },
    { hours: 30, status: 0 },
  ])(
    'an outage of $hours hours loses nothing and costs one request per run',
    async ({ hours, status }) => {
      const guids: string[] = [];
      const happening = async () => {
        relay.clock.now += MINUTE;
        guids.push(await opened());
      };
      github.down = everywhere(status);
      await pass(hours * HOUR, happening);
      expect(posts()).toHaveLength(4 * hours);
      // One page shows that nothing gets through.
      expect(lists()).toHaveLength(4 * hours);
      github.down = nowhere;
      await pass(HOUR, happening);
      expect(guids.filter((guid) => !hasArrived(guid))).toEqual([]);
      expect(github.askedNeedlessly).toEqual([]);
      expect(posts().length).toBeLessThanOrEqual(8 * hours);
      expect(await relay.jobs()).toHaveLength(guids.length);
    },
    120_000,
  );

  it('the outage of a quiet hook ends with the first successful redelivery', async () => {
    const guids = await failed(5);
    expect(await run()).toMatchObject({ redelivered: 1 });
    expect(await run()).toMatchObject({ redelivered: 4 });
    expect(guids.map(github.statuses)).toEqual(guids.map(() => [500, 202]));
  });

  it('an outage before the first successful delivery is recovered too', async () => {
    await start({ webhookSecret: '' });
    const guids = [await opened(), await opened()];
    expect(guids.map(github.statuses)).toEqual([[500], [500]]);
    relay.clock.now += 10 * HOUR;
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github-webhook`, { webhookSecret: WEBHOOK_SECRET });
    expect(await run()).toMatchObject({ hooks: 0 });
    await opened();
    expect(await run()).toMatchObject({ hooks: 1, redelivered: 2 });
    expect(await relay.jobs()).toHaveLength(3);
  });
});

describe('GitHub', () => {
  const REPOSITORY = '/repos/Codertocat/Hello-World';
  const both = { ...APP, ...TOKEN };
  it.each([
    ['a repository, with a token', ofRepository, TOKEN, `${REPOSITORY}/hooks/101/deliveries`],
    ['a repository, as an installation', ofRepository, APP, `${REPOSITORY}/hooks/101/deliveries`],
    ['an organization, with a token', ofOrganization, TOKEN, '/orgs/Codertocat/hooks/201/deliveries'],
    ['an organization, as an installation', ofOrganization, APP, '/orgs/Codertocat/hooks/201/deliveries'],
    ['an App, as itself', ofApp, APP, '/app/hook/deliveries'],
    ['a repository, with the token though there is an App', ofRepository, both, `${REPOSITORY}/hooks/101/deliveries`],
    ['an App, as itself though there is a token', ofApp, both, '/app/hook/deliveries'],
  ])("GitHub's API lists the hooks of %s", async (_, of, secret, path) => {
    await start({ hook: of(), secret });
    await failedOnce();
    expect(await run()).toMatchObject({ redelivered: 1, refused: 0 });
    const [, { id } = {}] = github.attempts;
    const asked = (isAboutInstallation: boolean) =>
      github.requests.filter((request) => request.includes('installation') === isAboutInstallation);
    expect(asked(false)).toEqual([`GET ${path}?per_page=100`, `POST ${path}/${id}/attempts`]);
    const asInstallation = secret === APP && of !== ofApp;
    expect(asked(true).includes(`GET ${path.replace(/\/hooks.*/, '/installation')}`)).toBe(asInstallation);
    expect(await relay.jobs()).toHaveLength(1);
  });

  it('GitHub lists page by page, and settled deliveries are listed again only for the last hour', async () => {
    github.pageSize = 5;
    for (let count = 0; count < 14; count++) {
      if (count % 5 === 0) await failed(1);
      else await opened();
      relay.clock.now += 10 * MINUTE;
    }
    expect(await run()).toMatchObject({ redelivered: 3 });
    expect(lists()).toHaveLength(3);
    await run();
    github.requests.length = 0;
    expect(await run()).toMatchObject({ redelivered: 0 });
    // 3 redeliveries, up to 6 deliveries of the last hour, and the end of the page; there are 4 pages by now.
    expect(lists()).toHaveLength(2);
    expect(await relay.jobs()).toHaveLength(14);
  });

  it("a tenth of GitHub's rate limit stays free for others", async () => {
    await failedBefore(6);
    github.rateLimit = { limit: 50, remaining: 8, resetAt: relay.clock.now + HOUR };
    expect(await run()).toMatchObject({ unfinished: 1 });
    expect(github.rateLimit.remaining).toBe(4);
    const before = github.requests.length;
    await pass(30 * MINUTE);
    expect(github.requests).toHaveLength(before);
    relay.clock.now += HOUR;
    await pass(15 * MINUTE);
    expect(await relay.jobs()).toHaveLength(7);
  });

  it('GitHub is asked again with a rotated secret after a 401', async () => {
    await start({ secret: { token: 'ghp_old' } });
    const guid = await failedOnce();
    github.instead = (_, authorization) => (authorization === 'token ghp_old' ? { status: 401 } : undefined);
    expect(await run()).toMatchObject({ refused: 1 });
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github`, { webhookSecret: WEBHOOK_SECRET, ...TOKEN });
    relay.clock.now += 15 * MINUTE;
    expect(await run()).toMatchObject({ refused: 1 });
    expect(await run()).toMatchObject({ refused: 0, redelivered: 1 });
    expect(hasArrived(guid)).toBe(true);
  });
});

describe('a hook', () => {
  const headersOf = ({ id, kind, targetId }: StandInHook): Record<string, string> => ({
    'x-github-hook-id': id,
    'x-github-hook-installation-target-type': kind,
    'x-github-hook-installation-target-id': targetId,
  });
  const hooks = () => createHooks(relay.stores.table);
  const known = async () => (await hooks().known()).map(({ kind, target, id }) => `${kind} ${target} ${id}`);
  const forgetAll = async () => {
    for (const one of await hooks().known()) await hooks().forget(one);
  };
  const payload = { repository: { full_name: 'Codertocat/Hello-World' }, organization: { login: 'Codertocat' } };

  const of = (fullName: string) => ({ repository: { full_name: fullName } });
  const lower = 'codertocat/hello-world';
  const ofEnterprise = { ...headersOf(ofApp()), 'x-github-hook-installation-target-type': 'business' };
  it.each<[string, Record<string, string>, object, string?]>([
    ['a repository', headersOf(ofRepository()), payload, 'repository Codertocat/Hello-World 101'],
    ['an organization', headersOf(ofOrganization()), payload, 'organization Codertocat 201'],
    ['another letter case', headersOf(ofRepository()), of(lower), `repository ${lower} 101`],
    ['an App', headersOf(ofApp()), {}, 'integration app 12'],
    ['an enterprise, which the API does not list', ofEnterprise, payload],
    ['a repository that the payload does not name', headersOf(ofRepository()), {}],
    ['a repository that is not configured', headersOf(ofRepository()), of('Codertocat/Other')],
    ['an organization without a configured one', headersOf(ofOrganization()), { organization: { login: 'acme' } }],
    ['an id that is no number', headersOf(ofRepository('1/../2')), payload],
    ['no headers', {}, payload],
  ])('a hook is known from the headers and payload of its deliveries: %s', async (_, headers, delivered, expected) => {
    await forgetAll();
    relay.clock.now += DAY;
    expect((await relay.post('push', delivered, headers)).status).toBe(202);
    expect(await known()).toEqual(expected ? [expected] : []);
  });

  it.each([
    ['a repository', ofRepository(), (id: string) => headersOf(ofRepository(id))],
    ['an organization', ofOrganization(), (id: string) => headersOf({ ...ofOrganization(), id })],
    ['an App', ofApp(), (id: string) => headersOf(ofApp(id))],
  ])('replayed deliveries with other ids cannot crowd out a hook: %s', async (_, of, headers) => {
    await start({ hook: of, secret: { ...APP, ...TOKEN } });
    for (let id = 1000; id < 1030; id++)
      expect((await relay.post('push', payload, headers(String(id)))).status).toBe(202);
    expect(await known()).toHaveLength(10);
    const guid = await failedOnce();
    expect(await run()).toMatchObject({ hooks: 10, refused: 0, redelivered: 1 });
    expect(hasArrived(guid)).toBe(true);
    // One list with the token, and one as the App.
    expect(lists().length).toBeLessThanOrEqual(2 * 10);
    expect(await run()).toMatchObject({ hooks: 1, refused: 0 });
  });

  it('a hook is recorded once a day', async () => {
    const first = relay.clock.now;
    const seenAt = async () => (await hooks().known()).map((one) => one.seenAt);
    relay.clock.now += DAY - 1;
    await relay.post('push', payload, headersOf(hook));
    expect(await seenAt()).toEqual([first]);
    relay.clock.now += 1;
    await relay.post('push', payload, headersOf(hook));
    expect(await seenAt()).toEqual([first + DAY]);
  });

  it('a hook of an App is listed once, even if a client id does not identify the App', async () => {
    await start({ hook: ofApp(), secret: { ...APP, appId: 'Iv23li' } });
    github.appId = 'Iv23li';
    await relay.post('push', payload, headersOf(ofApp('13')));
    const guid = await failedOnce();
    await run();
    expect(github.statuses(guid)).toEqual([500, 202]);
  });
  it('a delivery is answered even if its hook cannot be recorded', async () => {
    await start({ environment: { TABLE_NAME: 'no-such-table' } });
    expect((await relay.post('push', payload, headersOf(hook))).status).toBe(202);
    expect(relay.log).toContainEqual(expect.objectContaining({ message: 'hook not noted', hookId: hook.id }));
  });

  it.each([403, 404])('a hook refused with %i does not stop the others, and the log says why', async (status) => {
    // Another hook of the same target: only a 404 can mean that the hook does not exist.
    const other = status === 403 ? ofRepository('102') : ofOrganization();
    await ping(other);
    await failedOnce();
    const guid = await failedOnce(other);
    github.instead = (request) => (request.includes('/101/') ? { status } : undefined);
    expect(await run()).toMatchObject({ hooks: 2, refused: 1, redelivered: 1 });
    expect(github.statuses(guid)).toEqual([500, 202]);
    expect(relay.log).toContainEqual({
      message: 'GitHub refuses to redeliver for a hook',
      hookId: '101',
      hook: 'repository Codertocat/Hello-World',
      reason: expect.stringMatching(new RegExp(`${status}.*"Webhooks" \\(read and write\\)`)),
    });
    expect(relay.metrics).toContainEqual(expect.objectContaining({ HooksRefused: 1 }));
  });

  it('an unreadable list fails the run after the other hooks are handled', async () => {
    const other = ofRepository('102');
    await ping(other);
    const guid = await failedOnce(other);
    github.instead = (request) => (request.includes('/101/') ? { status: 200, message: 'ghp_answer' } : undefined);
    await expect(run()).rejects.toThrow('1 of 2 hooks failed');
    expect(github.statuses(guid)).toEqual([500, 202]);
    expect(relay.log).toContainEqual(
      expect.objectContaining({
        hookId: '101',
        error: expect.stringContaining('list of deliveries payload cannot be read'),
      }),
    );
    expect(JSON.stringify(relay.log)).not.toContain('ghp_answer');
  });

  it('a deleted hook is forgotten if another hook of its target can be listed, and recorded again if it delivers', async () => {
    const other = ofRepository('102');
    await ping(other);
    hook.deleted = true;
    expect(await run()).toMatchObject({ hooks: 2, refused: 0 });
    expect(await known()).toEqual(['repository Codertocat/Hello-World 102']);
    relay.clock.now += DAY;
    await opened();
    expect(await known()).toHaveLength(2);
  });

  it('the only hook is forgotten three days after it last delivered or was listed', async () => {
    for (let days = 0; days < 40; days += 2) {
      relay.clock.now += 2 * DAY;
      expect(await run()).toMatchObject({ hooks: 1, refused: 0 });
    }
    hook.deleted = true;
    relay.clock.now += 3 * DAY;
    expect(await run()).toMatchObject({ hooks: 1, refused: 1 });
    await opened();
    relay.clock.now += 3 * DAY;
    expect(await run()).toMatchObject({ hooks: 1, refused: 1 });
    relay.clock.now += 1;
    expect(await run()).toMatchObject({ hooks: 1, refused: 0 });
    expect(await run()).toMatchObject({ hooks: 0 });
  });

  it('a hook that delivers meanwhile is not forgotten, and a stale run does not restore it', async () => {
    const [seen] = await hooks().known();
    if (!seen) throw new Error('the hook should be known');
    relay.clock.now += DAY;
    await relay.post('push', payload, headersOf(hook));
    await hooks().forget(seen);
    expect(await known()).toHaveLength(1);
    await forgetAll();
    await hooks().keepPlace({ ...seen, settledTo: relay.clock.now, listedAt: relay.clock.now });
    expect(await known()).toEqual([]);
  });

  it('a hook that comes back is listed from the start', async () => {
    await run();
    await forgetAll();
    relay.clock.now += DAY;
    await opened();
    expect(await hooks().known()).toMatchObject([{ id: hook.id, settledTo: 0, listedAt: 0 }]);
  });

  it.each([
    ['of another App', { hook: ofApp('13'), secret: APP }, 'it is the hook of the App 13, and the github secret has'],
    ['of an App, for a token', { hook: ofApp() }, 'appId'],
  ])('a hook %s is reported, and not listed', async (_, options, reason) => {
    await start(options);
    expect(await run()).toMatchObject({ refused: 1 });
    expect(github.requests).toEqual([]);
    expect(relay.log).toContainEqual(expect.objectContaining({ reason: expect.stringContaining(reason) }));
  });

  it('a busy hook does not block the others forever', async () => {
    const other = ofRepository('102');
    await ping(other);
    await failedBefore(9);
    const guid = await failedOnce(other);
    const slowly = (ms = MINUTE) => trial.runInNewProcess({ sleep: () => relay.runtime.sleep(ms) });
    expect(await slowly()).toMatchObject({ redelivered: 3, unfinished: 1 });
    expect(github.statuses(guid)).toEqual([500, 202]);
    relay.clock.now += 15 * MINUTE;
    expect(await slowly()).toMatchObject({ unfinished: 1 });
    relay.clock.now += 15 * MINUTE;
    const listed = lists().length;
    expect(await slowly(2 * HOUR)).toMatchObject({ unfinished: 2 });
    expect(lists()).toHaveLength(listed + 1);
  });
});

describe('without its requirements', () => {
  it('redelivery is off without credentials, and says so once', async () => {
    await start({ secret: {} });
    const off = { hooks: 1, refused: 0, unfinished: 0, redelivered: 0, givenUp: 0 };
    expect(await run()).toEqual(off);
    expect(await run()).toEqual(off);
    expect(relay.log.filter(({ message }) => String(message).startsWith('redelivery is off'))).toHaveLength(1);
    expect(github.requests).toEqual([]);
  });

  it('redelivery needs no secret if GitHub is not configured', async () => {
    await start({ secret: {}, webhookSecret: '' });
    expect(await run()).toMatchObject({ hooks: 0 });
  });

  it('an unusable App key is reported without its content', async () => {
    const privateKey = '-----BEGIN PRIVATE KEY-----\nghp_canary';
    await start({ hook: ofApp(), secret: { appId: '12', privateKey } });
    await expect(run()).rejects.toThrow('1 of 1 hooks failed');
    expect(JSON.stringify(relay.log)).toMatch(/nothing can be signed with the privateKey/);
    expect(JSON.stringify(relay.log)).not.toContain('canary');
  });
});

describe('two runs', () => {
  it('two simultaneous runs request each delivery once', async () => {
    const guids = await failedBefore(6);
    const reports = await Promise.all([trial.runInNewProcess(), trial.runInNewProcess(), trial.runInNewProcess()]);
    expect(guids.map(github.asked)).toEqual(guids.map(() => 1));
    expect(reports.reduce((sum, { redelivered }) => sum + redelivered, 0)).toBe(6);
  });

  it.each([false, true])('nothing is lost if a run dies at any request; carried out: %s', async (isCarriedOut) => {
    let died = true;
    for (let at = 1; died; at++) {
      relay.clock.now += 2 * HOUR;
      const guids = await failed(2);
      died = await trial.runAndDie(at, isCarriedOut);
      await pass(45 * MINUTE);
      for (const guid of guids) {
        expect(github.statuses(guid), `died at request ${at}`).toContain(202);
        expect(github.asked(guid), `died at request ${at}`).toBeLessThanOrEqual(1);
      }
    }
  });
});

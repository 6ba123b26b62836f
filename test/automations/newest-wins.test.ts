import { beforeEach, describe, expect, it } from 'vitest';
import { commentPayload, mergedPayload } from '../kill/github-payloads.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { ask, command, MIRA, TOMASZ } from '../slack-requests.ts';

const COMPLETE = '/work-items/checklist/items/complete';
/** Whether a gateway keeps the next request, and passes it on only when the test says so. */
let keepsNext: boolean;
let passOn: () => Promise<Response>;
/** Runs before the service refuses a request. */
let beforeRefusal: (() => Promise<void>) | undefined;
let relay: TestRelay;
beforeEach(async () => {
  keepsNext = false;
  beforeRefusal = undefined;
  relay = await startRelay({
    github: { token: 'ghp_test' },
    // The service's clock may be this late.
    sandbox: { clock: () => relay.clock.now - 299_000 },
    runtime: {
      async fetch(input, init) {
        const meanwhile = String(input).endsWith(COMPLETE) ? beforeRefusal : undefined;
        beforeRefusal = undefined;
        await meanwhile?.();
        if (meanwhile) return Response.json({}, { status: 401 });
        if (!keepsNext || !String(input).endsWith(COMPLETE)) return fetch(input, init);
        keepsNext = false;
        passOn = () => fetch(input, init);
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
      },
    },
  });
});

const outcomes = async () => (await relay.jobs()).map(({ outcome }) => outcome);
/** In GitHub's format, without fractions of a second. */
const secondsAgo = (seconds: number) =>
  new Date(relay.clock.now - seconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
const slack = (text: string, userId = MIRA) => command(relay, text, { userId });
const carriedOut = (text: string, userId = MIRA) => ask(relay, text, { userId });

/** Ways to ask on GitHub, whose deliveries may be late. */
const asks = {
  comment(body: string, seconds: number) {
    const payload = commentPayload(3, body);
    const comment = { ...(payload.comment as object), created_at: secondsAgo(seconds) };
    return relay.post('issue_comment', { ...payload, comment });
  },
  merge(body: string, seconds: number) {
    const payload = mergedPayload(4, body);
    return relay.post('pull_request', {
      ...payload,
      pull_request: { ...payload.pull_request, merged_at: secondsAgo(seconds) },
    });
  },
};

describe('the newest request for a checklist item wins', () => {
  const MERGED = 'Completes checklist item 103.';

  const later = (seconds: number) => relay.pass(seconds * 1_000, seconds * 1_000);

  /** A gateway keeps Mira's request, and Tomasz asks for the opposite. */
  async function keepOlder(): Promise<void> {
    keepsNext = true;
    await carriedOut('done 103');
    await later(20);
    expect(relay.isCompleted(103)).toBe(true);
    await carriedOut('undo 103', TOMASZ);
    expect(relay.isCompleted(103)).toBe(false);
  }

  it('although a gateway passes an older request on after ten minutes, and its person reads that it is set again', async () => {
    const from = relay.clock.now;
    await keepOlder();
    expect(relay.told().at(-1)).toMatch(/an earlier request may still arrive.* at about .* or later/);
    while (relay.clock.now < from + 9 * 60_000) await later(60);
    await later((from + 595_000 - relay.clock.now) / 1_000);
    expect((await passOn()).status).toBe(200);
    expect(relay.isCompleted(103)).toBe(true);
    await relay.workToTheEnd();
    expect(relay.isCompleted(103)).toBe(false);
    expect(relay.told().at(-1)).toContain('Set checklist item 103 to open');
    expect(relay.requestsTo(COMPLETE)).toBe(4);
  });

  it("and a request that is only set again does not count among a person's ten unfinished ones", async () => {
    await keepOlder();
    const answers = [];
    for (let count = 0; count < 11; count++) answers.push((await slack(`find number ${count}`, TOMASZ)).text);
    expect(answers.filter((text) => text?.includes('Working on it'))).toHaveLength(10);
  });

  it('although a stalled run is refused after the next run of its job has sent the same', async () => {
    await slack('done 103');
    beforeRefusal = async () => {
      relay.clock.now += 5 * 60_000;
      keepsNext = true;
      await relay.sweep();
      await relay.work();
    };
    await relay.work();
    expect([beforeRefusal, keepsNext]).toEqual([undefined, false]);
    await carriedOut('undo 103', TOMASZ);
    expect((await passOn()).status).toBe(200);
    expect(relay.isCompleted(103)).toBe(true);
    await relay.workToTheEnd();
    expect(relay.isCompleted(103)).toBe(false);
  });

  it('although it is carried out while the run of an older request is stalled before its call', async () => {
    await slack('done 103');
    relay.table.loseAnswer(
      (input) => input.includes('newest#') && /UpdateExpression|"Item"/.test(input),
      async () => {
        relay.clock.now += 1_000;
        await carriedOut('undo 103', TOMASZ);
      },
    );
    await relay.workToTheEnd();
    expect(relay.table.lost).toBe(1);
    expect(relay.isCompleted(103)).toBe(false);
    expect(relay.requestsTo(COMPLETE)).toBe(1);
  });

  it('although an older request is tried again later, each item for itself', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: COMPLETE, times: 1 });
    await carriedOut('done 102 103');
    relay.clock.now += 1;
    await slack('undo 102');
    await relay.workToTheEnd();
    expect([relay.isCompleted(102), relay.isCompleted(103)]).toEqual([false, true]);
    expect((await outcomes()).toSorted()).toEqual([
      'completed checklist item 103. Checklist item 102: there is a newer request for it.',
      'set checklist item 102 to open',
    ]);
  });

  it.each([
    ['a comment that comes late', () => asks.comment('/done 103', 2), () => slack('undo 103'), false],
    ['a merge that comes late', () => asks.merge(MERGED, 2), () => slack('undo 103'), false],
    ['a comment of the same second', () => asks.comment('/done 103', 0), () => slack('undo 103'), true],
    ['a merge after a comment', () => asks.merge(MERGED, 1), () => asks.comment('/undo 103', 2), true],
    ['a command of another person', () => slack('done 103', TOMASZ), () => slack('undo 103'), true],
  ])('by the time of asking, and within one second by the time of arrival: %s', async (_, last, first, expected) => {
    relay.clock.now = Math.floor(relay.clock.now / 1_000) * 1_000 + 500;
    await first();
    await relay.workToTheEnd();
    relay.clock.now += 1;
    await last();
    await relay.workToTheEnd();
    expect(relay.isCompleted(103)).toBe(expected);
    const newer = expect.stringContaining('there is a newer request for it. Nothing was completed');
    expect(await outcomes()).toEqual(expect.arrayContaining(expected ? ['completed checklist item 103'] : [newer]));
  });

  it('among the lines of one comment: the last', async () => {
    const lines = ['done 101', 'undo 101', 'undo 102', 'done 102', 'done 103', 'undo 103', 'undo 104', 'done 104'];
    await asks.comment(lines.map((line) => `/${line}`).join('\n'), 0);
    await relay.workToTheEnd();
    expect([101, 102, 103, 104].map(relay.isCompleted)).toEqual([false, true, false, true]);
  });

  it('and sets again what an earlier request set, because a person may have changed it in the service', async () => {
    await carriedOut('done 103');
    const item = relay.sandbox.data.checklistItems.find(({ item_id }) => item_id === 103);
    Object.assign(item ?? {}, { is_completed: false });
    relay.clock.now += 180_000;
    await carriedOut('done 103');
    expect(relay.isCompleted(103)).toBe(true);
  });
});

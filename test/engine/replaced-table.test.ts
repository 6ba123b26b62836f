import { beforeEach, describe, expect, it } from 'vitest';
import { exampleOf, issueEvent } from '../issue-events.ts';
import { clearLink } from '../links/clear-link.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';

let relay: TestRelay;

async function start(): Promise<void> {
  const people = [{ github: 'Codertocat', email: 'mira.novak@example.com', timeZone: 'Europe/Berlin' }];
  relay = await startRelay({ config: exampleConfig({}, { people }), github: { token: 'ghp_test' } });
}
beforeEach(() => start());

const lists = (name: string) => relay.sandbox.audit.filter(({ endpoint }) => endpoint.endsWith(name)).length;

const example = exampleOf('issue_comment', 'created') as { comment: object };

/** Delivers a comment that logs time. */
async function comment(id: number): Promise<void> {
  const at = new Date(relay.clock.now).toISOString();
  const written = { created_at: at, updated_at: at, id, body: `/log 1h ${CHECKOUT}` };
  relay.github.written.set(id, written.body);
  relay.github.writtenAt = at;
  const { status } = await relay.post('issue_comment', { ...example, comment: { ...example.comment, ...written } });
  expect(status).toBe(202);
}

describe('after the table was replaced', () => {
  it.each([
    ['an older copy', 2],
    ['an empty one', 0],
  ])('no issue gets a second defect, however late its next event: %s', async (_, inCopy) => {
    const defects = relay.sandbox.data.defects.length;
    let copy = relay.backUp();
    for (let id = 1; id <= 4; id++) {
      await relay.happens(issueEvent('opened', { id }));
      if (id === inCopy) copy = relay.backUp();
    }
    relay.replaceTable(copy);
    for (let id = 1; id <= 3; id++) await relay.post('issues', issueEvent('edited', { id, seconds: 60 }));
    await relay.workToTheEnd();
    relay.clock.now += 30 * 86_400_000;
    const from = relay.clock.now;
    await relay.post('issues', issueEvent('edited', { id: 4, from, title: 'Another title' }));
    const created_at = new Date(from).toISOString();
    await relay.post('issues', issueEvent('opened', { id: 5, from, created_at }));
    const searches = lists('/defects/list');
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.slice(defects).map(({ title }) => title)).toEqual([
      ...Array(3).fill(issueEvent('opened').issue.title),
      'Another title',
      issueEvent('opened').issue.title,
    ]);
    expect((await relay.jobs()).map(({ status }) => status)).toEqual(expect.not.arrayContaining(['parked']));
    expect(lists('/defects/list') - searches).toBeLessThanOrEqual(1);
  });

  it('an issue whose defect cannot be searched for is parked until a person has decided', async () => {
    const [seed] = relay.sandbox.data.defects;
    if (!seed) throw new Error('the sandbox has no defect');
    const others = Array.from({ length: 1_100 }, (_, n) => ({ ...seed, project_id: PROJECT, defect_id: `other-${n}` }));
    relay.sandbox.data.defects.push(...others);
    await relay.happens(issueEvent('opened', { id: 1 }));
    relay.replaceTable([]);
    const before = relay.sandbox.data.defects.length;
    await relay.happens(issueEvent('edited', { id: 2 }));
    const [job] = await relay.jobs('parked');
    expect(job?.parked?.reason).toMatch(/the table was replaced on 2026-11-20.*relay issue Codertocat\/Hello-World#2/);
    expect(relay.sandbox.data.defects).toHaveLength(before);
    // While workers may still use the earlier table, the outcome is unknown.
    relay.clock.now += 15 * 60_000;
    await clearLink(relay, 2);
    await relay.replay();
    expect(relay.sandbox.data.defects).toHaveLength(before + 1);
  });

  it.each(['an older copy', 'an empty one'])('a repeated event does not log time twice: %s', async (by) => {
    const before = by === 'an empty one' ? [] : relay.backUp();
    await comment(1);
    await relay.workToTheEnd();
    expect(relay.timelogs()).toHaveLength(1);
    relay.replaceTable(before);
    const { now } = relay.clock;
    await comment(1);
    await relay.workToTheEnd();
    expect(relay.timelogs()).toHaveLength(1);
    expect(relay.clock.now).toBe(now);
    const outcome = expect.stringContaining(`as time entry ${relay.timelogs()[0]?.timelog_id}`);
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded', outcome }]);
  });

  it('repeated events share one reading, and new ones are carried out', async () => {
    for (let id = 1; id <= 8; id++) await comment(id);
    await relay.workToTheEnd();
    relay.replaceTable([]);
    for (let id = 8; id >= 1; id--) await comment(id);
    await comment(9);
    await relay.workToTheEnd();
    expect(relay.timelogs()).toHaveLength(9);
    expect(lists('/timelogs/list')).toBeLessThanOrEqual(3);
  });

  it.each(['is too long to read', 'does not show the notes'])('nothing is done if the list %s', async (what) => {
    await comment(1);
    await relay.workToTheEnd();
    const { timelogs } = relay.sandbox.data;
    const [entry = expect.fail('the sandbox has no time entry')] = timelogs;
    if (what === 'does not show the notes') for (const one of timelogs) Object.assign(one, { note: undefined });
    else for (let id = 0; id < 1_100; id++) timelogs.push({ ...entry, timelog_id: `other-${id}`, task_id: CHECKOUT });
    const before = relay.sandbox.data.timelogs.length;
    relay.replaceTable([]);
    await comment(2);
    await relay.workToTheEnd();
    expect(relay.sandbox.data.timelogs).toHaveLength(before);
    const reason = expect.stringMatching(
      /^the table was replaced on 2026-11-20, and timelogs\/create may have been carried out/,
    );
    expect(await relay.jobs()).toMatchObject([{ status: 'parked', parked: { reason } }]);
  });

  it('an event from long after the loss is carried out without a search', async () => {
    await comment(1);
    await relay.workToTheEnd();
    relay.replaceTable([]);
    await comment(2);
    await relay.workToTheEnd();
    const searches = lists('/timelogs/list');
    relay.clock.now += 8 * 86_400_000;
    await comment(3);
    await relay.workToTheEnd();
    expect(relay.timelogs()).toHaveLength(3);
    expect(lists('/timelogs/list')).toBe(searches);
  });
});

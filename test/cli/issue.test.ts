import { beforeEach, describe, expect, it } from 'vitest';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import { createRelations } from '../../lib/links/relations.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { runRelayOf } from './run-command.ts';

const ISSUE = 'Codertocat/Hello-World#1';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const link = (...words: string[]) => runRelayOf(relay, ['issue', ...words]);

async function happens(...event: Parameters<typeof issueEvent>) {
  await relay.post('issues', issueEvent(...event));
  await relay.workToTheEnd();
  relay.clock.now += 1;
}

const lastDefect = () => relay.sandbox.data.defects.at(-1);

describe('partner-relay issue', () => {
  it('shows the defect of an issue, by its name in any letter case', async () => {
    await happens('opened', { title: 'It \u001b[31mbreaks' });
    const shown = await link('codertocat/hello-world#1');
    expect(shown).toContain(`defect ${lastDefect()?.defect_id}, claimed by issue-to-defect-`);
    expect(shown).toContain('It \uFFFD[31mbreaks');
    expect(JSON.parse(await link(ISSUE, '--json'))).toMatchObject({ life: 'made', entity: 'issue-9001' });
  });

  it.each([
    [['#1'], /expected owner\/repo#42/],
    [['Codertocat/Hello-World#77'], /no event of Codertocat\/Hello-World#77 in the last 30 days/],
    [[ISSUE, '--clear', '--set', 'd'], /only one of/],
  ])('partner-relay issue refuses %j', async (words, why) => {
    await expect(link(...words)).rejects.toThrow(why);
  });

  it('--set names the issue that has the defect after a transfer', async () => {
    await happens('opened');
    const there = issueEvent('opened', { id: 2 });
    const changes = { new_issue: there.issue, new_repository: there.repository };
    await happens('transferred', { seconds: 5, extra: { changes } });
    const id = String(lastDefect()?.defect_id);
    const run = `run npx partner-relay issue Codertocat/Hello-World#2 --set ${id}`;
    const moved = `${ISSUE} was transferred to Codertocat/Hello-World#2; ${run}`;
    await expect(link(ISSUE, '--set', id)).rejects.toThrow(moved);
    expect(JSON.parse(await link(ISSUE, '--json'))).toMatchObject({ life: 'moved' });
  });

  it('--set sets the defect, which the next event updates from the issue', async () => {
    await happens('edited', { labels: [] });
    const { defect_id: id } = lastDefect() ?? {};
    const defect = { connection: 'main', id: String(id) };
    await createRelations(relay.stores.table).claim(defect, { kind: 'task', id: 12 }, 'j');
    const shown = await link(ISSUE, '--set', String(id));
    expect(shown).toContain(`defect ${id}, claimed by a person`);
    expect(shown).toMatch(/linked to +task 12/);
    await happens('edited', { seconds: 1, title: 'from the issue' });
    expect(lastDefect()).toMatchObject({ defect_id: id, title: 'from the issue' });
  });

  const LISTS_FAIL = { kind: 'server-error', when: 'before work', operation: '/defects/list' } as const;
  const NOT_SAID = /the service did not say whether anything exists, so nothing was changed: .*the service answers 500/;
  const NOT_THERE = /the project has no defect with the id '.*'\. Nothing was changed/;
  it.each<[string, Fault | undefined, string, RegExp]>([
    ['exists', undefined, '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1cff', NOT_THERE],
    ['can be asked', LISTS_FAIL, 'anything', NOT_SAID],
  ])('--set refuses a defect unless it %s', async (_, fault, id, why) => {
    await happens('edited', { labels: [] });
    if (fault) relay.sandbox.setFault(fault);
    await expect(link(ISSUE, '--set', id)).rejects.toThrow(why);
    expect(await link(ISSUE)).toContain('without a defect');
  });

  it('--set refuses the defect of another issue, unless the person says --steal', async () => {
    await happens('opened');
    await happens('opened', { id: 2 });
    const { defect_id: other } = lastDefect() ?? {};
    const before = await link(ISSUE);
    const why = /the relay created .* for something else.*--steal/;
    await expect(link(ISSUE, '--set', String(other))).rejects.toThrow(why);
    expect(await link(ISSUE)).toBe(before);
    expect(await link(ISSUE, '--set', String(other), '--steal')).toContain(`defect ${other}`);
    await expect(link(ISSUE, '--steal')).rejects.toThrow('use --steal with --set');
  });

  it('--clear clears a link; the job that made the defect notes it, and the next event creates a defect', async () => {
    await happens('opened');
    relay.sandbox.data.defects.pop();
    expect(await link(ISSUE, '--clear')).toContain('without a defect');
    const [job] = await relay.jobs();
    expect(job?.decisions?.newest).toMatchObject([{ what: 'linked', reason: `${ISSUE} has no defect` }]);
    await happens('edited', { seconds: 1, title: 'anew' });
    expect(lastDefect()).toMatchObject({ title: 'anew' });
  });

  it('does not change the claim of an unfinished job, and says where to look', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', times: 1 });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    const why = /is creating the defect; wait until .* partner-relay job issue-to-/;
    await expect(link(ISSUE, '--clear')).rejects.toThrow(why);
  });

  it('settles what a parked job left open, and the job ends when it continues', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 });
    await happens('opened');
    const { defect_id: id } = lastDefect() ?? {};
    await link(ISSUE, '--set', String(id));
    await happens('edited', { seconds: 1, title: 'from the issue' });
    expect(lastDefect()).toMatchObject({ defect_id: id, title: 'from the issue' });
  });
});

describe('a link that cannot be read', () => {
  it.each<['--set' | '--clear', string, string, Record<string, unknown>]>([
    ['--set', 'a life that does not exist', 'SET #life = :value', { value: 'happy' }],
    ['--clear', 'no defect', 'REMOVE #defect', {}],
    ['--clear', 'a turn beyond all numbers', 'SET #turn = :value', { value: 1e100 }],
    ['--clear', 'an arrival from nowhere', 'SET #arrived = :value', { value: { from: 2 } }],
    ['--set', 'nothing but a newest state', 'REMOVE #life, #claim, #defect, #turn', {}],
    ['--set', 'a newest state of text', 'SET #newest = :value', { value: 'closed' }],
    ['--set', 'a time far ahead', 'SET #cleared = :value', { value: { times: 1, at: 8e15 } }],
  ])('parks the job of the next event, and works again after %s: %s', async (decision, _, expression, values) => {
    const before = relay.sandbox.data.defects.length;
    await happens('opened');
    const id = String(lastDefect()?.defect_id);
    const { table, jobs, queue } = relay.stores;
    await table.update(keys.link('issue-9001'), { expression, values });
    expect(await link(ISSUE)).toContain('not as the relay writes it');

    await happens('edited', { seconds: 1, title: 'edited' });
    const isHealed = (await relay.jobs('parked')).length === 0;
    if (!isHealed) {
      const [parked] = await relay.jobs('parked');
      const why = /^the link of issue-9001 cannot be read: .* npx partner-relay issue \S+#\d+ --set/;
      expect(parked?.parked).toMatchObject({ kind: 'needs an operator', reason: expect.stringMatching(why) });
      expect(lastDefect()?.title).not.toBe('edited');
      await link(ISSUE, decision, ...(decision === '--set' ? [id] : []));
      if (parked) await requeueJob(parked, { jobs, queue });
      await relay.workToTheEnd();
    }
    expect(lastDefect()).toMatchObject({ title: 'edited' });
    expect(relay.sandbox.data.defects.length - before).toBe(isHealed || decision === '--set' ? 1 : 2);
    expect(await relay.jobs('parked')).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import { issueEvent } from '../issue-events.ts';
import { mutate, takesAtMost, textIds } from '../mutated-service.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { ask, NOBODY } from '../slack-requests.ts';

let relay: TestRelay;

/** Logs time on a task of the seed. @returns the final text for the person */
const logs = async (by: { userId?: string } = {}) => (await ask(relay, 'log 1h “Release checkout 2.4”', by)).inTheEnd;
const LOGGED = 'Logged 1h on Release checkout 2.4';

/** Further users of the service. */
const strangers = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ user_id: `s-${n}`, name: 'Somebody', email: `s-${n}@example.com` }));

async function start(connection: RelayConfigInput['connections'][string] = {}, sandbox: SandboxOptions = {}) {
  relay = await startRelay({ config: exampleConfig({}, { connection }), sandbox });
}

describe('an instance with pages of at most 50 rows', () => {
  it('is asked for a smaller page once, and then for pages of a size that it accepts', async () => {
    await start();
    const refused: unknown[] = [];
    const small = takesAtMost(50);
    await mutate(relay, {
      reads(payload, path) {
        const read = small.reads?.(payload, path) ?? payload;
        if ('refused' in read) refused.push(path);
        return read;
      },
    });
    expect(await logs()).toContain(LOGGED);
    relay.clock.now += 3 * 60_000;
    expect((await ask(relay, 'log 2h “Login with passkeys”')).inTheEnd).toContain('Logged 2h on Login with passkeys');
    expect(refused).toHaveLength(1);
  });

  it('is read to the last row of a list', async () => {
    await start();
    relay.sandbox.data.users.unshift(...strangers(130));
    await mutate(relay, takesAtMost(50, { errors: { per_page: 'must be at most 50' } }));
    expect(await logs()).toContain(`${LOGGED} today`);
  });

  it('is searched for a defect after a lost answer', async () => {
    await start();
    await mutate(relay, takesAtMost(50));
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', skip: 1 });
    await relay.post('issues', issueEvent('opened'));
    await relay.workToTheEnd();
    const created = relay.sandbox.data.defects.slice(1);
    expect(created).toHaveLength(1);
    expect(await relay.jobs()).toMatchObject([{ outcome: expect.stringContaining(created[0]?.defect_id ?? '') }]);
  });

  it('is not asked again if it refuses something else', async () => {
    await start();
    const refusal = { refused: 422, errors: { q: 'is too short' } };
    let asked = 0;
    await mutate(relay, { reads: (payload, path) => (path === 'tasks/search' && ++asked ? refusal : payload) });
    await logs();
    expect(asked).toBe(1);
  });
});

describe.each([true, false])('an instance that counts its pages from 0, with pagination: %s', (paginatesAll) => {
  it('shows its people and tasks, and is asked for page 1 once', async () => {
    await start({}, { paginatesAll });
    const pages: unknown[] = [];
    await mutate(relay, {
      reads(payload, path) {
        if (path === 'users/list') pages.push(payload.page);
        return 'page' in payload ? { ...payload, page: Number(payload.page) + 1 } : payload;
      },
    });
    relay.sandbox.data.users.push(...strangers(130));
    expect((await ask(relay, 'find checkout')).inTheEnd).toContain('Release checkout 2.4');
    expect(await logs()).toContain(LOGGED);
    // The search for tasks has already shown that pages count from 0.
    expect(pages[0]).toBe(0);
  });
});

describe('an instance that ignores the page and silently cuts its lists off', () => {
  const cut = (path: string): SandboxOptions => ({
    paginatesAll: false,
    rename: { [path]: { fields: { page: 'other', per_page: 'size' } } },
  });

  it('does not count as having no defect after the table was lost', async () => {
    await start({}, cut('/defects/list'));
    const [seed] = relay.sandbox.data.defects;
    await relay.post('issues', issueEvent('opened'));
    await relay.workToTheEnd();
    const others = Array.from({ length: 60 }, (_, n) => ({ ...seed, project_id: PROJECT, defect_id: `other-${n}` }));
    relay.sandbox.data.defects.push(...(others as typeof relay.sandbox.data.defects));
    const before = relay.sandbox.data.defects.length;
    relay.replaceTable([]);
    await relay.post('issues', issueEvent('edited', { seconds: 60 }));
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects).toHaveLength(before);
    expect(await relay.jobs('parked')).toMatchObject([
      { parked: { reason: expect.stringContaining('but cannot read all of defects/list') } },
    ]);
  });

  it('does not count as having no such person', async () => {
    await start({}, cut('/users/list'));
    relay.sandbox.data.users.unshift(...strangers(60));
    expect(await logs()).toContain(
      'Partner Relay cannot read all users of the service, and none of those that it can read has your e-mail address.',
    );
  });

  it('is believed if relay.config.ts says that the list is complete', async () => {
    await start({ operations: { 'defects/list': { paged: false } } }, cut('/defects/list'));
    relay.replaceTable([]);
    await relay.post('issues', issueEvent('opened'));
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects).toHaveLength(2);
    expect(relay.sandbox.audit.filter(({ endpoint }) => endpoint === '/defects/list')).toHaveLength(1);
  });
});

describe('an instance without pagination that refuses a page after the last', () => {
  it.each([400, 404, 422])('lists its users up to there: %i', async (refused) => {
    await start({}, { paginatesAll: false });
    await mutate(relay, { reads: (payload) => (Number(payload.page) > 1 ? { refused } : payload) });
    expect(await logs()).toContain(LOGGED);
    expect(await logs({ userId: NOBODY })).toContain('Partner Relay cannot read all users');
  });
});

describe('ids that people type as digits', () => {
  const done = { 'work-items/checklist/items/complete': { ids: { item_id: 'text' as const } } };

  it.each(['101', '007'])('are sent as texts if the override says so: %s', async (id) => {
    await start({ operations: done });
    Object.assign(relay.sandbox.data.checklistItems[0] ?? {}, { item_id: id });
    await mutate(relay, textIds('item_id'));
    expect((await ask(relay, `done ${id}`)).inTheEnd).toContain(`ompleted checklist item ${id}`);
    expect(relay.sandbox.data.checklistItems[0]).toMatchObject({ item_id: id, is_completed: true });
  });

  it.each(['101', '007'])("are sent as texts if the service's lists have texts: %s", async (id) => {
    await start();
    const [task] = relay.sandbox.data.tasks;
    Object.assign(task ?? {}, { task_id: id });
    await mutate(relay, textIds('task_id', 'item_id'));
    expect((await ask(relay, 'find checkout')).inTheEnd).toContain(id);
    expect((await ask(relay, `log 1h ${id}`)).inTheEnd).toContain(LOGGED);
    // No list of checklist items is known, and all ids that the relay has seen are texts.
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('ompleted checklist item 101');
  });

  it.each(['7', '007'])("are sent as numbers if the service's lists have numbers: %s", async (typed) => {
    await start();
    const id = 7;
    Object.assign(relay.sandbox.data.tasks[0] ?? {}, { task_id: id });
    const isText = ({ task_id }: Record<string, unknown>) => typeof task_id === 'string';
    await mutate(relay, {
      reads: (payload, path) => (path === 'tasks/detail' && isText(payload) ? { refused: 422 } : payload),
    });
    await ask(relay, 'find checkout');
    const relate = `relate ${relay.sandbox.data.defects[0]?.defect_id} task ${typed}`;
    expect((await ask(relay, relate)).inTheEnd).toContain(`to task ${id}`);
    expect(relay.sandbox.data.defects[0]).toMatchObject({ task_id: id });
  });

  it('stay as typed while nothing is known, if a number would change them', async () => {
    await start();
    Object.assign(relay.sandbox.data.checklistItems[0] ?? {}, { item_id: '007' });
    expect((await ask(relay, 'done 007')).inTheEnd).toContain('ompleted checklist item 007');
  });
});

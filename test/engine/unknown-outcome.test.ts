import { github } from 'partner-relay';
import { afterEach, describe, expect, it } from 'vitest';
import type { JobDetail, ParkedGroups } from '../../console/contract.ts';
import type { ActionResult, JobAction } from '../../console/requests.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { setFields } from '../../lib/state/table/table.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import { consoleOf, type TestConsole } from '../console/console-of.ts';
import { issueEvent } from '../issue-events.ts';
import { carriedOut } from '../partner-contract.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { PLATFORM, readable } from '../slack-requests.ts';

type Do = JobAction['do'];

const on = github('issues.opened', { input: {}, job: ({ issue }) => ({ happened: [issue.id], input: {} }) });
/** Whether the relay can search for what an operation created, and whether it can check an id from a person. */
const declared: readonly [name: string, isSought: boolean, isChecked: boolean][] = [
  ['defects/create', true, true],
  ['timelogs/create', true, true],
  ['projects/create', true, true],
  ['tasks/create', false, true],
  ['test-scenarios/create', false, false],
  ['test-steps/create', false, false],
  ['defects/link', false, false],
];

let relay: TestRelay;
let shown: TestConsole;
afterEach(() => Promise.all([shown?.close(), relay?.close()]));

type Row = Readonly<Record<string, unknown>>;
const rows = () => Object.values(relay.sandbox.data).flatMap((all): Row[] => all as unknown as Row[]);

/** A job that is parked after the answer to its only call was lost. @returns its id, and the created row */
async function parked(name: string): Promise<{ id: string; made: Row | undefined }> {
  const { effect } = operations.get(name) ?? {};
  const payload = carriedOut.find((row) => row.name === name)?.payload ?? {};
  const run = async (_: unknown, { create, send }: Steps) => {
    if (effect === 'create') return `made ${(await create('it', name as 'projects/create', payload)).id}`;
    await send('it', name as 'defects/link', payload as { defect_id: string });
    return 'sent';
  };
  const config = { ...exampleConfig({ comment: false }), contactChannel: PLATFORM };
  relay = await startRelay({ own: { mine: { on, run } }, config });
  shown = await consoleOf(relay);
  const before = new Set(rows().map((row) => JSON.stringify(row)));
  relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: `/${name}`, times: 1 });
  const list = operations.get(name)?.found?.list;
  if (list) relay.sandbox.setFault({ kind: 'maintenance', status: 422, operation: `/${list}`, times: 4 });
  await relay.happens(issueEvent('opened', { labels: [] }));
  relay.sandbox.clearFaults();
  const [job] = await relay.jobs();
  expect(job?.parked?.kind).toBe('outcome unknown');
  return { id: job?.id ?? '', made: rows().find((row) => !before.has(JSON.stringify(row))) };
}

const decide = async (id: string, action: object) =>
  (await shown.post<ActionResult>(`/api/jobs/${id}`, action)).answer.results[0];
const actionsOf = async (id: string) => (await shown.get<JobDetail>(`/api/jobs/${id}`)).next.actions;
const laterWays = (isSought: boolean): Do[] => [...(isSought ? (['search'] as const) : []), 'done', 'again', 'discard'];

describe('an unknown outcome', () => {
  it('has a row here for each operation that creates, and for each whose effect is unknown', () => {
    const open = [...operations.values()].filter(({ effect }) => effect === 'create' || effect === 'unknown');
    expect(new Set(open.map(({ name }) => name))).toEqual(new Set(declared.map(([name]) => name)));
  });

  it.each(declared)('of %s: offers nothing that is refused, and says when more is possible', async (name, isSought) => {
    const { id } = await parked(name);
    const until = (await relay.jobs())[0]?.parked?.open?.until ?? 0;
    expect(until).toBeGreaterThan(relay.clock.now);
    const now: Do[] = isSought ? ['search', 'done'] : ['done'];
    expect(await actionsOf(id)).toEqual(now);
    const { next } = await shown.get<JobDetail>(`/api/jobs/${id}`);
    expect(next.text).toContain(`wait until ${new Date(until).toISOString()}`);
    const { groups } = await shown.get<ParkedGroups>('/api/parked');
    expect(groups).toMatchObject([{ actions: now.filter((one) => one !== 'done') }]);
    await relay.sweep();
    const [notice = ''] = relay.slack.messages
      .filter(({ channel }) => channel === PLATFORM)
      .map(({ blocks }) => readable(blocks));
    for (const way of ['done', 'again', 'search'] as const)
      expect(notice.includes(`resolve ${id} --${way}`)).toBe(now.includes(way));
    expect(notice).not.toContain(`discard ${id}`);
    expect(notice).toContain(`wait until <!date^${Math.floor(until / 1_000)}`);
    for (const action of [{ do: 'again' }, { do: 'discard', reason: 'a test' }])
      expect(await decide(id, action)).toMatchObject({
        ok: false,
        text: expect.stringMatching(/ has to wait until .*: the service may still carry out/),
      });
    relay.clock.now = until;
    expect(await actionsOf(id)).toEqual(laterWays(isSought));
    for (const way of isSought ? [] : ['search', 'replay'])
      expect(await decide(id, { do: way })).toMatchObject({
        ok: false,
        text: expect.stringContaining('relay cannot search'),
      });
    expect((await relay.jobs())[0]).toMatchObject({ status: 'parked' });
    expect((await relay.jobs())[0]?.decisions).toBeUndefined();
  });

  it('from an earlier version offers nothing that is refused either', async () => {
    const { id } = await parked('tasks/create');
    const { reason = '', kind, open } = (await relay.jobs())[0]?.parked ?? {};
    await relay.stores.table.update(keys.job(id), setFields({ parked: { reason, kind } }));
    expect(await actionsOf(id)).toEqual(['search', 'done']);
    relay.clock.now = (open?.until ?? 0) + 600_000;
    expect(await actionsOf(id)).toEqual(['search', 'done', 'again', 'discard']);
    expect(await decide(id, { do: 'discard', reason: 'a test' })).toMatchObject({ ok: true });
  });

  it.each(
    declared.flatMap(([name, isSought, isChecked]) =>
      laterWays(isSought).map((way) => ({ name, way, isSought, isChecked })),
    ),
  )('of $name: $way works if it is offered', async ({ name, way, isSought, isChecked }) => {
    const { id, made } = await parked(name);
    relay.clock.now += 11 * 60_000;
    const count = rows().length;
    const createdId = String(made?.[operations.get(name)?.createdId ?? ''] ?? 'anything');
    if (way === 'done' && isChecked)
      expect(await decide(id, { do: way, createdId: '4711' })).toMatchObject({
        ok: false,
        text: expect.stringContaining('Nothing was changed'),
      });
    expect(await decide(id, { do: way, reason: 'a test', createdId })).toMatchObject({ ok: true });
    await relay.workToTheEnd();
    expect((await relay.jobs())[0]?.status).toBe(way === 'discard' ? 'not-done' : 'succeeded');
    const isMadeAgain = way === 'again' && !isSought && name !== 'defects/link';
    expect(rows().length - count).toBe(isMadeAgain ? 1 : 0);
    if (way === 'done' && name !== 'defects/link') expect((await relay.jobs())[0]?.outcome).toBe(`made ${createdId}`);
  });
});

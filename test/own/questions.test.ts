import { github } from 'partner-relay';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { JobDetail, ParkedGroups } from '../../console/contract.ts';
import type { ActionResult } from '../../console/requests.ts';
import { requeueJob } from '../../lib/engine/line/sweep.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import { startStory } from '../../local/story.ts';
import { runRelayOf } from '../cli/run-command.ts';
import { consoleOf, type TestConsole } from '../console/console-of.ts';
import { startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;
let shown: TestConsole;
let id: string;

const ITEM = { item_id: 101, is_completed: true };
const file = {
  on: github('release.published', { input: {}, job: () => ({ happened: [1], input: {} }) }),
  run: async (_: unknown, { ask, call }: Steps) => {
    const { by, answer } = await ask('may', 'May it complete the item?');
    await call('complete', 'work-items/checklist/items/complete', ITEM);
    return `${by} said '${answer}'`;
  },
};

beforeEach(async () => {
  relay = await startRelay({ own: { mine: file } });
  shown = await consoleOf(relay);
  await relay.post('release', { action: 'published', repository: { full_name: 'Codertocat/Hello-World' } });
  await relay.work();
  id = (await relay.jobs('parked'))[0]?.id ?? '';
});
afterEach(async () => {
  vi.restoreAllMocks();
  await shown.close();
});

const job = async () => (await relay.jobs())[0];
const stillAsks = async () => {
  await relay.workToTheEnd();
  expect(await job()).toMatchObject({ status: 'parked', parked: { reason: 'May it complete the item?' } });
};
const decide = async (action: object) =>
  (await shown.post<ActionResult>(`/api/jobs/${id}`, action)).answer.results?.[0] ?? { ok: false, text: '' };

it.each<[string, () => Promise<unknown>]>([
  ['`npx partner-relay replay` without a reason', () => runRelayOf(relay, ['replay', id])],
  ['`npx partner-relay replay` with a blank reason', () => runRelayOf(relay, ['replay', id, '--reason', ' '])],
  ["the console's Replay", () => decide({ do: 'replay' }).then(({ ok, text = '' }) => expect(ok, text).toBe(true))],
])('a question is not answered by %s, which says what to write', async (_, replay) => {
  await expect(replay()).rejects.toThrow(
    'asks a question: replay it with the answer, as --reason <answer>, or discard',
  );
  await stillAsks();
});

it('a question is not answered by `--parked-for`, which leaves the job out and says so', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  await runRelayOf(relay, ['replay', '--parked-for', 'May it', '--yes', '--reason', 'repaired']);
  expect(said.mock.calls.flat()).toEqual([
    '1 job left out, because a question needs an answer of its own: answer with replay <id> --reason <answer>',
  ]);
  await stillAsks();
  expect((await shown.get<ParkedGroups>('/api/parked')).groups).toMatchObject([{ actions: ['answer', 'discard'] }]);
});

it('a question is not answered by a replay of the previous version, which has no reason', async () => {
  const parked = await job();
  if (parked) await requeueJob(parked, relay.stores, { at: relay.clock.now, by: 'ada', what: 'replayed' });
  await stillAsks();
});

it.each<[string, () => Promise<unknown>]>([
  ['`npx partner-relay replay --reason`', () => runRelayOf(relay, ['replay', id, '--reason', ' yes, do '])],
  ["the console's Answer", () => decide({ do: 'answer', answer: 'yes, do' })],
])('a question is answered by %s, and the job continues with the answer', async (_, answer) => {
  const { next } = await shown.get<JobDetail>(`/api/jobs/${id}`);
  expect(next).toMatchObject({
    actions: ['answer', 'discard'],
    text: expect.stringContaining('answer it, or discard'),
  });
  expect(await runRelayOf(relay, ['job', id])).toContain(`replay ${id} --reason <answer>`);
  await answer();
  await relay.workToTheEnd();
  expect(await job()).toMatchObject({ status: 'succeeded', outcome: expect.stringMatching(/ said 'yes, do'$/) });
});

it('a question is no failure, and the terminal of `npm start` offers the same as `partner-relay job`', async () => {
  const printed: string[] = [];
  const story = startStory('/dev/null', (text) => printed.push(text));
  for (const line of relay.log) story.log.info(line);
  await story.close();
  expect(printed.join('\n')).toContain('asks: May it complete the item?');
  expect(printed.join('\n')).not.toMatch(/failed|parked/);
  const asked = await runRelayOf(relay, ['job', id]);
  expect(asked).toMatch(/begun.* May it complete the item\?/);
  for (const said of ['It asks you a question: answer it', `npx partner-relay replay ${id} --reason <answer>`]) {
    expect(printed.join('\n')).toContain(said);
    expect(asked).toContain(said);
  }
});

import { github } from 'partner-relay';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { creates, openData, operation } from '../../lib/service/partner/operation.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { carriedOut } from '../partner-contract.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;

const on = github('issues.opened', { input: {}, job: ({ issue }) => ({ happened: [issue.id], input: {} }) });
/** The outcome of a creation's answer, and whether the service shows afterwards that it was carried out. */
const answers: readonly [answer: string, fault: Fault | undefined, isClear: boolean][] = [
  ['comes', undefined, true],
  ['is lost', { kind: 'cut', when: 'after work' }, false],
  ['is a 500', { kind: 'server-error', when: 'after work' }, false],
  ['is none, because it does not arrive', { kind: 'cut', when: 'on arrival' }, true],
];
const creating = [...operations.values()].filter(({ effect }) => effect === 'create');
const things = () => Object.values(relay.sandbox.data).reduce((sum, rows) => sum + rows.length, 0);

it.each(
  creating.flatMap(({ name, found }) =>
    answers.map(([answer, fault, isClear]) => ({ name, found, answer, fault, isClear })),
  ),
)("a team's $name is carried out once if its answer $answer", async ({ name, found, fault, isClear }) => {
  const payload = carriedOut.find((row) => row.name === name)?.payload ?? {};
  const run = async (_: unknown, { create }: Steps) =>
    `made ${(await create('it', name as 'projects/create', payload)).id}`;
  relay = await startRelay({ own: { mine: { on, run } }, config: exampleConfig({ comment: false }) });
  const before = things();
  if (fault) relay.sandbox.setFault({ ...fault, operation: `/${name}`, times: 1 });
  await relay.post('issues', issueEvent('opened', { labels: [] }));
  await relay.workToTheEnd();
  expect(things()).toBe(before + 1);
  expect(await relay.jobs()).toMatchObject(
    isClear || found
      ? [{ status: 'succeeded', outcome: expect.stringMatching(/^made [\w-]+$/) }]
      : [{ status: 'parked', parked: { kind: 'outcome unknown' } }],
  );
});

it('a creating operation names the field of its data that has the new id, and no other operation does', () => {
  const declared = { name: 'x/create', evidence: 'assumed', payload: openData } as const;
  const data = z.looseObject({ x_id: z.string() });
  operation({ ...declared, ...creates, data, createdId: 'x_id' });
  // @ts-expect-error
  operation({ ...declared, ...creates, data });
  // @ts-expect-error
  operation({ ...declared, ...creates, data, createdId: 'y_id' });
  // @ts-expect-error
  operation({ ...declared, ...creates, data: openData, createdId: 'x_id' });
  // @ts-expect-error
  operation({ ...declared, effect: 'read', success: 200, data, createdId: 'x_id' });
  for (const { effect, createdId } of operations.values()) expect(createdId !== undefined).toBe(effect === 'create');
});

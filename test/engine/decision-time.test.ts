import { expect, it } from 'vitest';
import { decide } from '../../console/actions.ts';
import type { OperatedRelay } from '../../console/relay.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
const { title } = issueEvent('opened').issue;

/** The console on a machine with another time than the table. */
const consoleOf = (relay: TestRelay, aheadMs: number): OperatedRelay => ({
  name: 'prod',
  operator: 'ana',
  stores: relay.stores,
  runtime: { ...relay.runtime, clock: () => relay.clock.now + aheadMs },
  stopped: async () => null,
});

it.each([0, -3_000, -MINUTE])(
  'nothing is created again if the object appeared seconds before the decision, by a clock that is %i ms off',
  async (aheadMs) => {
    const relay = await startRelay();
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 });
    await relay.happens(issueEvent('opened'));
    relay.clock.now += 10 * MINUTE;
    const [job] = await relay.jobs('parked');
    const id = job?.id ?? '';
    await decide(consoleOf(relay, aheadMs), { do: 'search' }, id);
    await relay.workToTheEnd();

    const journal = await openJournal(relay.stores.table, id, () => relay.clock.now);
    const description = journal.openRequest('create-defect')?.found?.marker;
    const [defect] = relay.sandbox.data.defects;
    if (!defect || description === undefined) throw new Error('expected a parked job with a marker');
    const late = { defect_id: 'late', project_id: PROJECT, title: String(title), description };
    relay.sandbox.data.defects.push({ ...defect, ...late });
    relay.clock.now += 2_000;
    await decide(consoleOf(relay, aheadMs), { do: 'again' }, id);
    await relay.workToTheEnd();
    expect(relay.defects().map(({ defect_id }) => defect_id)).toEqual(['late']);
  },
);

it('an operator with a clock that is ahead cannot create again while the first request may still arrive', async () => {
  const relay = await startRelay();
  relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 4 });
  await relay.happens(issueEvent('opened'));
  await relay.workToTheEnd();
  const [job] = await relay.jobs('parked');
  const { results } = await decide(consoleOf(relay, 10 * MINUTE), { do: 'again' }, job?.id ?? '');
  expect(results).toMatchObject([{ ok: false }]);
});

it('after the table was replaced, a replay finds an object that appeared after the last reading of the list', async () => {
  const relay = await startRelay({ config: exampleConfig() });
  const { defects } = relay.sandbox.data;
  const [defect] = defects;
  if (!defect) throw new Error('the sandbox has no defect');
  await relay.happens(issueEvent('opened', { id: 1 }));
  relay.replaceTable([]);
  relay.clock.now += 20 * MINUTE;
  // The list is too long to be read to its end.
  const many = Array.from({ length: 1_100 }, (_, n) => ({ ...defect, project_id: PROJECT, defect_id: `other-${n}` }));
  defects.unshift(...many);
  await relay.happens(issueEvent('edited', { id: 2, seconds: 1_200 }));
  const [marker = ''] = /\[partner-relay \w+\]/.exec((await relay.jobs('parked'))[0]?.parked?.reason ?? '') ?? [];
  expect(marker).not.toBe('');

  defects.splice(0, many.length);
  relay.clock.now += MINUTE;
  await relay.happens(issueEvent('edited', { id: 3, seconds: 1_260 }));
  const earlier = { defect_id: 'earlier', project_id: PROJECT, title: String(title), description: marker };
  defects.push({ ...defect, ...earlier });
  relay.clock.now += 2_000;
  await relay.replay();
  await relay.workToTheEnd();
  expect(defects.filter(({ description }) => String(description).includes(marker))).toMatchObject([
    { defect_id: 'earlier' },
  ]);
});

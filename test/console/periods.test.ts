import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Period } from '../../console/contract.ts';
import { periodsOf } from '../../console/periods.ts';
import { rowOf } from '../../console/row.ts';
import type { Waited, WaitsFor } from '../../lib/engine/record/history.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import type { StepEntry } from '../../lib/engine/record/journal.ts';
import type { Send } from '../../lib/engine/record/sends.ts';

const job: Job = {
  ...{ id: 'one', automation: 'issue-to-defect', connection: 'main', lane: 'background', entity: 'acme/web#1' },
  ...{ summary: '', input: {}, generation: 1, attempts: 0 },
  status: 'succeeded',
  createdAt: 1_000,
  wakeAt: 10_000,
};

const lost: Send = {
  ...{ askedAt: 1_200, grantedAt: 1_500, sentAt: 1_510, endedAt: 2_000 },
  ...{ came: 'no answer', why: 'the connection was cut' },
};
const again: Send = {
  ...{ askedAt: 3_000, grantedAt: 3_000, sentAt: 3_000, endedAt: 3_400 },
  ...{ came: 'accepted', sameBytes: true },
};
const create: StepEntry = {
  ...{ step: 'create-defect', calls: 'defects/create', status: 'done', startedAt: 1_200, finishedAt: 9_000 },
  sends: { older: 0, newest: [lost, again] },
};
const comment: StepEntry = {
  ...{ step: 'comment', calls: 'GitHub comment', status: 'done', startedAt: 9_000, finishedAt: 10_000 },
};

/** `queue 1000-1200`, with the period's step. */
const inWords = (periods: readonly Period[]) =>
  periods.map(({ is, from, to = '', step }) => `${is} ${from}-${to}${step === undefined ? '' : ` ${step}`}`);

it('the waterfall distinguishes queue, flight and retry, and shows a long wait for the budget', () => {
  const late = { ...lost, grantedAt: 2_200, sentAt: 2_200, endedAt: 2_400 };
  const waited = { ...create, sends: { older: 0, newest: [late] } };
  expect(inWords(periodsOf(job, [waited], 20_000))).toContain('budget 1200-2200 create-defect');
  expect(inWords(periodsOf(job, [create, comment], 20_000))).toEqual([
    'queue 1000-1200',
    'work 1200-1510 create-defect',
    'flight 1510-2000 create-defect',
    'answer 2000-3000 create-defect',
    'flight 3000-3400 create-defect',
    'work 3400-9000 create-defect',
    'flight 9000-10000 comment',
  ]);
});

it('the waterfall names the check for a lost answer, and has no call before the first send', () => {
  const search: Send = {
    ...lost,
    calls: 'defects/list',
    askedAt: 3_000,
    grantedAt: 3_000,
    sentAt: 3_000,
    endedAt: 3_400,
  };
  const nothing: Send = { ...search, came: 'accepted', why: undefined, sentAt: 2_500, endedAt: 2_600 };
  const sought = { ...create, sends: { older: 0, newest: [lost, nothing, search] } };
  const periods = periodsOf(job, [sought], 20_000);
  expect(inWords(periods)).toContain('answer 2000-2500 create-defect');
  expect(periods.find(({ from }) => from === 2_600)).toMatchObject({ is: 'answer', why: 'it is searched for' });
  const { sends: _, ...unsent } = create;
  expect(inWords(periodsOf(job, [unsent], 20_000))).toContain('work 1200-9000 create-defect');
});

it("a wait between two sends has the job's reason, and after an operator’s decision the job is in the queue", () => {
  const waits = [
    { for: 'outage', from: 2_000, until: 2_600, why: 'the service is down' },
    { for: 'operator', from: 4_000, until: 8_000, why: 'parked' },
  ] as const;
  const resumed = { ...create, resumedAt: 8_500 };
  const told = { ...job, waits: { older: 0, newest: [...waits] } };
  expect(inWords(periodsOf(told, [resumed], 20_000))).toEqual([
    'queue 1000-1200',
    'work 1200-1510 create-defect',
    'flight 1510-2000 create-defect',
    'outage 2000-2600 create-defect',
    'work 2600-3000 create-defect',
    'flight 3000-3400 create-defect',
    'work 3400-4000 create-defect',
    'operator 4000-8000 create-defect',
    'queue 8000-8500',
    'work 8500-9000 create-defect',
    'work 9000-10000',
  ]);
});

const inLine: Waited = { for: 'budget', from: 3_000, why: 'the minute' };
it.each<[string, Partial<Job>, string]>([
  ['queued', { status: 'queued' }, 'queue 1000-'],
  ['running', { status: 'running', queuedAt: 1_100 }, 'work 1100-'],
  ['parked', { status: 'parked', wakeAt: 4_000, parked: { reason: 'why', kind: 'failed' } }, 'operator 4000-'],
  ['in line', { status: 'waiting', waits: { older: 0, newest: [inLine] } }, 'budget 3000-'],
])('the last period of a job that is %s has no end', (_, state, last) => {
  expect(inWords(periodsOf({ ...job, ...state }, [], 20_000)).at(-1)).toBe(last);
});

const forPerson = (from: number, until?: number) => ({ for: 'operator', from, until, why: 'parked' }) as Waited;
const outage: Waited = { for: 'outage', from: 4_000, until: 9_000, why: 'the service is down' };
it.each([
  ['an operator, twice', [forPerson(1_000, 4_000), outage, forPerson(9_000, 10_000)], 4_000],
  ['no person', [outage], undefined],
  ['an operator, up to now', [forPerson(1_000)], undefined],
])("a job's duration in a list leaves out the time that it waited for %s", (_, newest, personMs) => {
  expect(rowOf({ ...job, waits: { newest, older: 0 } }).personMs).toBe(personMs);
});

it('for any history, every moment belongs to exactly one period', () => {
  const time = fc.integer({ min: 0, max: 12_000 });
  const send = fc.record({
    askedAt: time,
    grantedAt: time,
    sentAt: time,
    endedAt: time,
    came: fc.constantFrom<Send['came']>('accepted', 'no answer', 'server error'),
  });
  const step = fc.record(
    {
      step: fc.constantFrom('a', 'b', 'c'),
      calls: fc.constant('x'),
      status: fc.constant<StepEntry['status']>('done'),
      startedAt: time,
      finishedAt: time,
      resumedAt: time,
      sends: fc.record({ older: fc.constant(0), newest: fc.array(send) }),
    },
    { requiredKeys: ['step', 'calls', 'status', 'startedAt'] },
  );
  const wait = fc.record(
    {
      for: fc.constantFrom<WaitsFor>('budget', 'retry', 'operator', 'job'),
      from: time,
      why: fc.constant('w'),
      until: time,
    },
    { requiredKeys: ['for', 'from', 'why'] },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 4 }), fc.array(wait, { maxLength: 4 }), (steps, newest) => {
      const given = { ...job, waits: { older: 0, newest } };
      const periods = periodsOf(given, steps, 20_000);
      expect(periods[0]?.from).toBe(job.createdAt);
      expect(periods.at(-1)?.to).toBe(job.wakeAt);
      for (const [index, { from, to = 0 }] of periods.entries()) {
        expect(to).toBeGreaterThan(from);
        if (index > 0) expect(from).toBe(periods[index - 1]?.to);
      }
    }),
  );
});

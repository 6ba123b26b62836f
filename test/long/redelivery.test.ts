import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE, ofOrganization, type RedeliveryTrial, startRedeliveryTrial } from '../redelivery-trial.ts';

/** An event of the relay, of GitHub, or of a run. */
type Happening =
  | { what: 'an issue is opened'; hook: 0 | 1; listedAfterMinutes: number }
  | { what: 'we fail'; status: number }
  | { what: 'we are back' }
  | { what: 'a person redelivers'; nth: number }
  | { what: 'time passes'; minutes: number }
  | { what: 'a run' }
  | { what: 'two runs at once' }
  | { what: 'a run dies'; at: number; isCarriedOut: boolean }
  | { what: 'a run in trouble'; from: number; trouble: Trouble };
type Trouble = '503' | '429' | 'cut' | 'cut after the work' | 'cursor refused';

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('an issue is opened' as const),
      hook: fc.constantFrom(0 as const, 1 as const),
      listedAfterMinutes: fc.constantFrom(0, 0, 5, 40),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('we fail' as const), status: fc.constantFrom(500, 502, 0) }) },
  { weight: 2, arbitrary: fc.constant({ what: 'we are back' as const }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('a person redelivers' as const), nth: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({ what: fc.constant('time passes' as const), minutes: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 3, arbitrary: fc.constant({ what: 'a run' as const }) },
  { weight: 1, arbitrary: fc.constant({ what: 'two runs at once' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('a run dies' as const),
      at: fc.integer({ min: 1, max: 30 }),
      isCarriedOut: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('a run in trouble' as const),
      from: fc.integer({ min: 1, max: 12 }),
      trouble: fc.constantFrom<Trouble>('503', '429', 'cut', 'cut after the work', 'cursor refused'),
    }),
  },
);

/** Has it happen. */
async function happen(happened: Happening, trial: RedeliveryTrial, guids: string[]): Promise<void> {
  const { github, relay } = trial;
  switch (happened.what) {
    case 'an issue is opened': {
      const hook = happened.hook === 0 ? trial.hook : ofOrganization();
      guids.push(await trial.opened(hook, happened.listedAfterMinutes * MINUTE));
      break;
    }
    case 'we fail':
      github.down = () => happened.status;
      break;
    case 'we are back':
      github.down = () => undefined;
      break;
    case 'a person redelivers':
      await github.redeliver(guids[happened.nth % guids.length] ?? '');
      break;
    case 'time passes':
      relay.clock.now += happened.minutes * MINUTE;
      break;
    case 'a run':
      await trial.run();
      break;
    case 'two runs at once':
      await Promise.all([trial.runInNewProcess(), trial.runInNewProcess()]);
      break;
    case 'a run dies':
      await trial.runAndDie(happened.at, happened.isCarriedOut);
      break;
    case 'a run in trouble': {
      const before = github.requests.length;
      github.instead = (request) =>
        github.requests.length - before >= happened.from ? answerOf(happened.trouble, request) : undefined;
      await trial.runInNewProcess();
      github.instead = () => undefined;
    }
  }
}

function answerOf(trouble: Trouble, request: string) {
  if (trouble === '503') return { status: 503 };
  if (trouble === '429') return { status: 429, headers: { 'retry-after': '300' } };
  if (trouble === 'cursor refused') return request.includes('cursor') ? { status: 422 } : undefined;
  return trouble;
}

describe('redelivery', () => {
  it('loses nothing and requests nothing unnecessarily, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 6 }),
        async (happenings, pageSize) => {
          const trial = await startRedeliveryTrial();
          const { github } = trial;
          try {
            await trial.ping(ofOrganization());
            github.pageSize = pageSize;
            const guids = [await trial.opened()];
            for (const happened of happenings) await happen(happened, trial, guids);
            github.down = () => undefined;
            trial.relay.clock.now += HOUR;
            for (let runs = 0; runs < 4; runs++) {
              await trial.pass(15 * MINUTE);
              for (const hook of [trial.hook, ofOrganization()]) await trial.opened(hook);
              trial.relay.clock.now += MINUTE;
            }
            const lost = guids.filter((guid) => !github.statuses(guid).includes(202));
            const givenUp = trial.relay.log
              .filter(({ message }) => String(message).startsWith('delivery given up'))
              .map(({ guid }) => guid);
            expect(lost.filter((guid) => !givenUp.includes(guid))).toEqual([]);
            // The first attempt, and at least five redeliveries.
            for (const guid of givenUp) expect(github.statuses(String(guid)).length).toBeGreaterThanOrEqual(6);
            expect(github.askedNeedlessly).toEqual([]);
          } finally {
            await trial.relay.close();
          }
        },
      ),
      // Shrinking takes longer than the gate. The message has the seed.
      { numRuns: 100, endOnFailure: true },
    );
  });

  it('loses nothing in an outage of nearly three days with more failures than one run can request', async () => {
    const trial = await startRedeliveryTrial();
    const { github, opened, pass } = trial;
    const ofKind = (method: string) => github.requests.filter((request) => request.startsWith(method));
    github.down = () => 502;
    const guids: string[] = [];
    for (let hour = 0; hour < 70; hour++) {
      for (let count = 0; count < 8; count++) guids.push(await opened());
      await pass(HOUR);
    }
    // One page shows that nothing gets through.
    expect(ofKind('GET').length).toBeLessThan(1.3 * ofKind('POST').length);
    github.down = () => undefined;
    await pass(1.5 * HOUR, () => opened());
    expect(guids.filter((guid) => !github.statuses(guid).includes(202))).toEqual([]);
  });
});

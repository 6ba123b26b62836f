import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay } from '../relay.ts';

const ISSUES = 4;

/** A change of an issue; its place in the history is its time. */
const change = fc.record({
  issue: fc.integer({ min: 1, max: ISSUES }),
  action: fc.constantFrom('labeled', 'edited', 'unlabeled', 'closed', 'reopened'),
  isBug: fc.boolean(),
  // GitHub takes no blank titles.
  title: fc.string({ maxLength: 20 }).map((text) => `Title ${text}.`),
  state: fc.constantFrom('open', 'closed'),
});

/** Faults after which the relay knows what became of a call, however much time passes: it needs no pause to find out. */
const fault = fc.constantFrom<Fault>(
  { kind: 'cut', when: 'after work', times: 1 },
  { kind: 'cut', when: 'on arrival', times: 2 },
  { kind: 'server-error', when: 'after work', times: 1 },
  { kind: 'server-error', when: 'on arrival', times: 1 },
  { kind: 'rate-limited', times: 1 },
  { kind: 'empty-body', times: 1 },
);

/** What happens outside, one after the other: a delivery of some change, a moment for the worker, a fault. */
const happening = fc.oneof(
  { weight: 6, arbitrary: fc.record({ deliver: fc.nat(1_000) }) },
  { weight: 3, arbitrary: fc.constant('work' as const) },
  { weight: 2, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 20 * 60_000 }) }) },
  { weight: 1, arbitrary: fault },
);

it('any order of deliveries leaves one defect per issue in its last state', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 12 }),
      fc.array(happening, { maxLength: 40 }),
      async (history, happenings) => {
        const relay = await startRelay();
        try {
          const seeded = relay.sandbox.data.defects.length;
          const events = history.map(({ issue, action, isBug, title, state }, at) =>
            issueEvent(action, { id: issue, seconds: at + 1, labels: isBug ? ['bug'] : [], title, state }),
          );
          const deliver = (at: number) => relay.post('issues', events[at % events.length] as object);
          for (const what of happenings) {
            if (what === 'work') await relay.work();
            else if ('deliver' in what) await deliver(what.deliver);
            else if ('pass' in what) {
              relay.clock.now += what.pass;
              await relay.sweep();
            } else relay.sandbox.setFault(what);
          }
          // Whatever was not delivered yet is now, in some order, as GitHub's redeliveries would.
          for (let at = events.length - 1; at >= 0; at--) expect((await deliver(at)).status).toBeOneOf([200, 202]);
          await relay.workToTheEnd();

          expect(await relay.jobs('parked')).toEqual([]);
          for (let issue = 1; issue <= ISSUES; issue++) {
            const last = history.findLast((one) => one.issue === issue);
            const url = `https://github.com/Codertocat/Hello-World/issues/${issue}\n`;
            const made = relay.sandbox.data.defects.slice(seeded).filter((defect) => defect.description.includes(url));
            if (last?.isBug) expect(made).toHaveLength(1);
            expect(made.length).toBeLessThanOrEqual(last ? 1 : 0);
            for (const defect of made) {
              expect(defect.title).toBe(last?.title);
              expect(defect.description).toContain(`\nState: ${last?.state}`);
            }
          }
        } finally {
          await relay.close();
        }
      },
    ),
    { numRuns: 150 },
  );
});

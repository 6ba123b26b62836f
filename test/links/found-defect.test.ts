import { afterEach, describe, expect, it } from 'vitest';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { heldBy } from '../../lib/links/link-life.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT, startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
let relay: TestRelay;
let seeded: number;
afterEach(() => relay.close());
const defects = () => relay.sandbox.data.defects.slice(seeded);
const edited = (seconds: number) =>
  relay.post('issues', issueEvent('edited', { seconds, title: `edited at ${seconds}` }));

/** A defect was created without an answer, the relay could not find it, and the operator has discarded its job. */
async function discardedAfterCreation(): Promise<void> {
  relay = await startRelay({});
  seeded = relay.sandbox.data.defects.length;
  const [a] = relay.sandbox.data.defects;
  relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 1 });
  await relay.post('issues', issueEvent('opened'));
  await relay.workToTheEnd();
  relay.clock.now += 10 * MINUTE;
  const [job] = await relay.jobs('parked');
  if (!job || !a) throw new Error('expected a parked job');
  const clock = () => relay.clock.now;
  await discardJob(job, { by: 'alice', reason: 'not needed' }, { ...relay.stores, clock });
  await relay.workToTheEnd();
  // The list of the service lagged behind.
  const marker = heldBy(await relay.links.get('issue-9001')).claim?.marker;
  relay.sandbox.data.defects.push({ ...a, defect_id: 'late', project_id: PROJECT, description: `… ${marker}` });
}

/** True for the nth write of the link. */
function writeOfLink(n: number): (body: string) => boolean {
  let left = n;
  return (body) => body.includes('"link#issue-9001"') && body.includes('ConditionExpression') && --left === 0;
}

describe('a defect that a discarded job had created', () => {
  it.each([1, 2, 3])('is found, and not created again, if the answer to write %i of the link is lost', async (n) => {
    await discardedAfterCreation();
    await edited(1);
    relay.table.loseAnswer(writeOfLink(n));
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ title: 'edited at 1' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it.each([1, 2, 3])('is found, and not created again, if the worker stops before write %i of the link', async (n) => {
    await discardedAfterCreation();
    await edited(1);
    relay.table.stopAt(writeOfLink(n));
    await relay.work().catch(() => {});
    relay.table.goOn();
    relay.clock.now += 5 * MINUTE;
    await relay.sweep();
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ title: 'edited at 1' }]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it('is searched for before another creation, also by the job of a later event', async () => {
    await discardedAfterCreation();
    const scopes = (of: string[]) => {
      const [key] = relay.sandbox.keys;
      if (key) key.scopes = of;
    };
    scopes([]);
    await edited(1);
    await relay.workToTheEnd();
    expect(await relay.jobs('parked')).toHaveLength(1);
    scopes(['*']);
    await edited(2);
    await relay.workToTheEnd();
    expect(defects()).toMatchObject([{ title: 'edited at 2' }]);
  });
});

import { afterEach, expect, it } from 'vitest';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { clearLink } from './clear-link.ts';

const MINUTE = 60_000;
let relay: TestRelay;
afterEach(() => relay.close());

it.each(['again', 'search'] as const)(
  'after `relay issue --clear`, `resolve --%s` finds what was created',
  async (how) => {
    relay = await startRelay();
    const before = relay.sandbox.data.defects.length;
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', skip: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/list' });
    await relay.post('issues', issueEvent('opened'));
    await relay.workToTheEnd();
    const [job] = await relay.jobs('parked');
    expect(job?.parked?.kind).toBe('outcome unknown');
    expect(relay.sandbox.data.defects.length - before).toBe(1);
    relay.sandbox.clearFaults();
    relay.clock.now += 10 * MINUTE;

    const clock = () => relay.clock.now;
    const { stores } = relay;
    await clearLink(relay, 1);
    if (how === 'again' && job) await resolveJob(job, 'again', { ...stores, by: 'alice', clock });
    if (how === 'search' && job) {
      const { requeueJob } = await import('../../lib/engine/line/sweep.ts');
      await requeueJob(job, stores);
    }
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.length - before).toBe(1);
    expect(await relay.jobs('parked')).toEqual([]);
  },
);

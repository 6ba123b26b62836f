import { afterEach, expect, it } from 'vitest';
import { decideLink } from '../../lib/automations/decide-link.ts';
import { openJournal } from '../../lib/jobs/journal.ts';
import { resolveJob } from '../../lib/jobs/resolve.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const MINUTE = 60_000;
let relay: TestRelay;
afterEach(() => relay.close());

/**
 * Promised (docs/exactly-once.md): `resolve --again` "searches for the marker once more, and creates again only if that
 * finds nothing"; a call that creates something is never carried out twice; one issue has one defect.
 * Happens: with `relay link --clear` before it, `--again` creates a second defect although the first is in the list.
 * Mechanism: decide-link.ts:55 allows `clear` for a claim whose parked job has an open request, and link-life.ts:180
 * forgets the marker that the open request was signed with. The job claims the link anew with a new marker
 * (issue-to-defect.ts:159), and hands that one to steps.create; creations.ts:131 looks for the marker of the link and not
 * for the one in the bytes of the open request, finds nothing by definition, and steps.ts:182 drops the request and
 * creates once more.
 */
it.each(['again', 'search'] as const)(
  'after `relay link --clear`, `resolve --%s` finds what was created',
  async (how) => {
    relay = await startRelay();
    const before = relay.sandbox.data.defects.length;
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/create', times: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create', skip: 1 });
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/list' });
    await relay.post('issues', issueEvent('opened'));
    await relay.workToTheEnd();
    const [job] = await relay.jobs('parked');
    expect(job?.parked?.outcomeUnknown).toBe(true);
    expect(relay.sandbox.data.defects.length - before).toBe(1);
    relay.sandbox.clearFaults();
    relay.clock.now += 10 * MINUTE;

    const clock = () => relay.clock.now;
    const { stores, runtime } = relay;
    await decideLink({ entity: 'issue-9001', name: 'Codertocat/Hello-World#1' }, 'clear', {
      ...stores,
      config: runtime.config,
      journal: (id) => openJournal(stores.table, id, clock),
      randomBytes: runtime.randomBytes,
    });
    if (how === 'again' && job) await resolveJob(job, 'again', { ...stores, clock });
    if (how === 'search' && job) {
      const { requeueJob } = await import('../../lib/jobs/sweep.ts');
      await requeueJob(job, stores);
    }
    await relay.workToTheEnd();
    console.log((await relay.jobs()).map(({ status, outcome, parked }) => ({ status, outcome, parked })));
    expect(relay.sandbox.data.defects.length - before).toBe(1);
    expect(await relay.jobs('parked')).toEqual([]);
  },
);

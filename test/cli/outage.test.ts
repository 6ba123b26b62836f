import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { waitInWords } from '../../lib/engine/record/in-plain-words.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';
import { runRelayOf } from './run-command.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const run = (...words: string[]) => runRelayOf(relay, words);

async function open(count: number): Promise<string[]> {
  for (let id = 1; id <= count; id++) await relay.post('issues', issueEvent('opened', { id }));
  await relay.work();
  return (await relay.jobs()).map(({ id }) => id);
}

describe('an operator in an outage', () => {
  it('reads that a web page with 404 is not about the defect', async () => {
    relay.sandbox.setFault({ kind: 'maintenance', status: 404 });
    const [id = ''] = await open(3);
    const reason =
      /main is down: the address answers 404 with a web page or other text; check the connection's base URL/;
    expect(await run('job', id)).toMatch(reason);
    for (const words of [['job', id], ['jobs']]) {
      const shown = await run(...words);
      expect(shown).toContain(
        'Check the base URL in partner/main, and the proxy in front of the service. When the address answers, the jobs continue by themselves.',
      );
      expect(shown).not.toMatch(/Nothing to do|They continue/);
    }
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(relay.defects()).toHaveLength(3);
  });

  it('pastes commands that name the stage', async () => {
    relay.sandbox.setFault({ kind: 'maintenance', status: 403 });
    const [id = ''] = await open(1);
    const shown = await run('--stage', 'prod', 'job', id);
    expect(shown).toContain(`npx partner-relay --stage prod replay ${id}`);
    expect(shown).not.toMatch(/npx partner-relay (?!--stage prod)/);
    expect(await run('job', id)).toContain(`npx partner-relay replay ${id}`);
  });

  it('reads after resume that the key is still refused, until a call works', async () => {
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await open(1);
    const [waiting] = await relay.jobs('waiting');
    expect(waiting?.waits?.newest.at(-1)?.for).toBe('key');
    expect(await run('resume', 'main')).toContain('it stops them again');
    const budget = await run('budget');
    expect(budget).toContain('the service has refused the key since');
    expect(budget).not.toContain('can be sent now');
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(await run('budget')).not.toContain('refused the key');
  });

  it('reads that a key is needed of each job that waits, also of those that began to wait in an earlier outage', async () => {
    relay.sandbox.setFault({ kind: 'maintenance' });
    const ids = await open(4);
    relay.sandbox.clearFaults();
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await relay.pass(120_000, 5_000);
    const kept = (await relay.jobs('waiting')).map(({ waits }) => waits?.newest.at(-1)?.for);
    expect(kept).toContain('outage');
    for (const id of ids) expect(await run('job', id)).toContain('Enter a new key with npx partner-relay');
    expect(await run('jobs', '--status', 'waiting')).not.toContain('503');
  });

  it('reads how long a job waited in total, even if the cause changed and resume was tried in between', async () => {
    relay.sandbox.setFault({ kind: 'maintenance' });
    await open(4);
    relay.clock.now += 60_000;
    relay.sandbox.clearFaults();
    relay.sandbox.setFault({ kind: 'server-error' });
    await run('resume', 'main');
    await relay.pass(60_000, 5_000);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    const continued = relay.log.filter(({ message }) => message === 'job continues');
    expect(continued.length).toBeGreaterThan(0);
    for (const { durationMs } of continued) expect(durationMs).toBeGreaterThanOrEqual(120_000);
  });

  it('reads the shared reason of waiting jobs before their rows', async () => {
    relay.sandbox.setFault({ kind: 'maintenance' });
    await open(4);
    const listed = await run('jobs', '--status', 'waiting');
    expect(listed).toMatch(/The next \d jobs:\n +→ main is down: [^\n]*\n +→ Nothing to do: [^\n]*\n\d{4}-.* waiting /);
  });

  it('does not read that a replayed job waits for GitHub, or that resume helps, because the next run asks GitHub', async () => {
    let isLimited = true;
    const limited: typeof globalThis.fetch = async (input, init) =>
      isLimited && String(input).includes('/comments')
        ? Response.json({ message: 'API rate limit exceeded' }, { status: 429, headers: { 'retry-after': '600' } })
        : fetch(input, init);
    relay = await startRelay({ github: { token: 'ghp_test' }, runtime: { fetch: limited } });
    const [id = ''] = await open(1);
    expect(await relay.jobs()).toMatchObject([{ status: 'waiting' }]);
    isLimited = false;
    expect(await run('replay', id)).not.toContain('waits');
    await relay.work();
    expect(await relay.jobs()).toMatchObject([{ status: 'succeeded' }]);
  });

  it('reads what a replayed job waits for, which decisions are refused and why, and which job is next', async () => {
    relay.sandbox.setFault({ kind: 'maintenance' });
    const [id = ''] = await open(4);
    expect(await run('replay', id)).toMatch(
      /is replayed, and waits until this is over: main is down: .*\. To try now, run: npx partner-relay resume main$/,
    );
    await relay.work();
    const refusal =
      /(only those of a backfill and of your own automations can|it is waiting)\. Nothing to do: it (continues|tries again)/;
    await expect(run('discard', id, '--reason', 'no')).rejects.toThrow(refusal);
    await expect(run('resolve', id, '--again')).rejects.toThrow(refusal);
    const next = (await run('jobs', '--status', 'waiting')).match(
      /tries again at|continues at|as soon as its calls work/g,
    );
    expect(next?.toSorted().toReversed()).toEqual(next);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    await expect(run('replay', id)).rejects.toThrow('it has already succeeded');
  });

  it('sees no digest in the results of steps, and how often a list was read for a lost creation', async () => {
    relay.sandbox.setFault({ kind: 'cut', when: 'on answer', operation: '/defects/create' });
    relay.sandbox.setFault({ kind: 'maintenance', operation: '/defects/list' });
    const [id = ''] = await open(1);
    for (let time = 0; time < 12; time++) {
      relay.clock.now += 30_000;
      await relay.work();
    }
    expect(await run('job', id)).toMatch(/No search for it has finished yet: defects\/list was asked /);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(await run('job', id)).not.toMatch(/"(?:sent|digest|marker)"/);
  });

  it('sees only the parts of a command that were understood for sure', async () => {
    relay.sandbox.setFault({ kind: 'maintenance' });
    await command(relay, 'log 1h Login with passkeys');
    expect(await run('jobs')).toContain('log 1h Login …');
  });

  it("finds each wait on the page that explains it, in the terminal's words", () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/stuck.md'), 'utf8');
    const { operator, ...waits } = waitInWords;
    for (const { what } of Object.values(waits)) expect(page).toContain(`| \`${what.replace('for ', '')}\` |`);
  });
});

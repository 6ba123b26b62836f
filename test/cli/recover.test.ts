import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addBudgetCommand } from '../../cli/budget.ts';
import { addJobCommands } from '../../cli/jobs.ts';
import { addResumeCommand } from '../../cli/resume.ts';
import type { OpenTarget } from '../../cli/target.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const HOUR = 3_600_000;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(() => relay.close());

/** Runs a command of the relay's command line, by its clock. @returns what it printed */
async function run(...words: string[]): Promise<string> {
  const open: OpenTarget = async () => ({ githubWebhookUrl: '', slackWebhookUrl: undefined, stores: relay.stores });
  const program = new Command().exitOverride();
  for (const add of [addBudgetCommand, addJobCommands, addResumeCommand]) add(program, open);
  vi.useFakeTimers({ toFake: ['Date'], now: relay.clock.now });
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await program.parseAsync(words, { from: 'user' });
    return log.mock.calls.flat().join('\n');
  } finally {
    log.mockRestore();
    vi.useRealTimers();
  }
}

const defectsMade = () => relay.sandbox.audit.filter(({ status }) => status === 201).length;

async function open(count: number): Promise<void> {
  for (let id = 1; id <= count; id++) await relay.post('issues', issueEvent('opened', { id }));
  await relay.work();
}

describe('relay resume', () => {
  it('relay resume ends a pause and continues waiting jobs at once', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 20 * 3_600, times: 1 });
    await open(3);
    relay.clock.now += HOUR;
    await relay.sweep();
    await relay.work();
    expect(defectsMade()).toBe(0);
    expect(await run('budget')).toContain('paused until 2026-11-21T06:00:00.000Z');

    expect(await run('resume', 'main')).toBe(
      'ended the pause that lasted until 2026-11-21T06:00:00.000Z\n3 waiting jobs continue',
    );
    await relay.work();
    expect(defectsMade()).toBe(3);
    expect(await run('resume', 'main')).toBe(
      'the connection main was neither paused nor stopped\n0 waiting jobs continue',
    );
  });

  it('relay resume closes the breakers of operations and of the connection', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', operation: '/defects/create' });
    await open(5);
    expect(await run('budget')).toMatch(/defects\/create has been failing since 2026-11-20T10:00.*status 500/);
    relay.sandbox.clearFaults();
    expect(await run('resume', 'main')).toMatch(/^defects\/create was stopped: .*\n5 waiting jobs continue$/);
    await relay.workToTheEnd();
    expect(defectsMade()).toBe(5);

    relay.sandbox.setFault({ kind: 'key-revoked' });
    await relay.post('issues', issueEvent('opened', { id: 9 }));
    await relay.work();
    relay.sandbox.clearFaults();
    expect(await run('resume', 'main')).toMatch(/^the connection main was stopped: .*Unknown or revoked key/);
    await relay.workToTheEnd();
    expect(defectsMade()).toBe(6);
  });

  it('relay resume refuses a connection that is not configured', async () => {
    await expect(run('resume', 'other')).rejects.toThrow("relay.config.ts has no connection 'other'; there are main");
  });
});

describe('relay resolve --reason', () => {
  it('relay resolve --reason lists the jobs first, and searches for all of them with one reading', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/create', times: 4 });
    await open(2);
    await relay.workToTheEnd();
    const parked = await relay.jobs('parked');
    expect(parked).toHaveLength(2);
    relay.clock.now += HOUR;

    const listed = await run('resolve', '--reason', 'never clearly answered', '--search');
    for (const { id } of parked) expect(listed).toContain(id);
    expect(listed).toMatch(/Add --yes to decide these 2 jobs\.$/);
    expect(await relay.jobs('parked')).toHaveLength(2);

    const before = relay.sandbox.requests;
    await run('resolve', '--reason', 'never clearly answered', '--search', '--yes');
    await relay.workToTheEnd();
    expect(relay.sandbox.requests - before).toBe(1);
    expect(await relay.jobs('parked')).toHaveLength(2);

    await run('resolve', '--reason', 'never clearly answered', '--again', '--yes');
    await relay.workToTheEnd();
    expect(await relay.jobs('parked')).toEqual([]);
    expect(defectsMade()).toBe(2);
  });

  it.each([
    [['--search'], 'name either a job or a --reason'],
    [['--reason', 'x'], 'use one of --done <created id>, --again and --search'],
    [['--reason', 'x', '--done', '7'], '--done takes the id of one creation'],
  ])('relay resolve refuses %j', async (words, why) => {
    await expect(run('resolve', ...words)).rejects.toThrow(why);
  });
});

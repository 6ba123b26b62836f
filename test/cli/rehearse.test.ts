import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addRehearseCommand } from '../../cli/rehearse.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { command, MIRA } from '../slack-requests.ts';
import { runCommand } from './run-command.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(() => relay.close());

const HOUR = 3_600_000;

/** Runs the command with a configuration. @returns what it printed */
function rehearse(config: RelayConfig, ...words: string[]): Promise<string> {
  const target = { githubWebhookUrl: relay.url, slackWebhookUrl: undefined, stores: relay.stores };
  return runCommand(
    (program) =>
      addRehearseCommand(
        program,
        async () => target,
        async () => config,
      ),
    'rehearse',
    ...words,
  );
}

/** Issues that come at the same time, and a command of a person an hour later. */
async function busyHours(): Promise<void> {
  for (let id = 1; id <= 8; id++) {
    await relay.post('issues', issueEvent('opened', { id, title: `Issue ${id}`, from: relay.clock.now }));
  }
  await relay.workToTheEnd();
  relay.clock.now += HOUR;
  await command(relay, 'done 101 102 103', { userId: MIRA });
  await relay.workToTheEnd();
  relay.clock.now += HOUR;
}

const withLimits = (perDay: number) => exampleConfig({}, { connection: { limits: { perDay } } });

describe('relay rehearse', () => {
  it('says when the calls of the day are used up under the configuration, and who waits how long', async () => {
    await busyHours();
    const before = relay.sandbox.requests;
    const same = await rehearse(relay.runtime.config);
    expect(same).toContain(': 9 events, and this configuration makes 9 jobs.');
    expect(same).toContain(
      'main, with 120 calls a minute and 5,000 a day:\n0 of 9 jobs waited for the budget, with 11 calls.',
    );
    expect(same).toContain('The calls of the day were never used up.');
    expect(same).toMatch(/ 10:00:00 \S+ +8 +8 +– +–\n.* 11:00:00 \S+ +1 +3 +– +–$/m);
    const scarce = await rehearse(withLimits(5));
    expect(scarce).toMatch(
      /with 120 calls a minute and 5 a day:\n\d+ of 9 jobs waited for the budget, with 11 calls\./,
    );
    expect(scarce).toMatch(/ {2}Codertocat: 3 jobs, up to 2 d/);
    expect(scarce).toMatch(
      /used up between 2026-11-20 10:00:00 \S+ and 2026-11-22 11:00:00 \S+, and jobs waited for them/,
    );
    expect(scarce).toMatch(/ 10:00:00 \S+ +8 +\d+ +– +2 d.* +yes$/m);
    expect(scarce).toContain('Nothing was sent.');
    expect(relay.sandbox.requests).toBe(before);
  });

  it('leaves out what the configuration ignores, what was longer ago, and jobs without calls', async () => {
    await relay.post('issues', issueEvent('opened', { id: 1, title: 'Long ago' }));
    await relay.workToTheEnd();
    relay.clock.now += 3 * 24 * HOUR;
    await busyHours();
    await command(relay, 'help', { userId: MIRA });
    await relay.workToTheEnd();
    const others = exampleConfig({ labels: ['incident'] });
    expect(await rehearse(others, '--days', '2')).toContain(': 9 events, and this configuration makes 1 job.');
    const none = { ...others, connections: {} };
    expect(await rehearse(none, '--days', '2')).toContain(': 8 events, and this configuration makes 0 jobs.');
  });

  it('counts each change of an issue, for a stranger as for a member', async () => {
    for (const [seconds, title] of ['One', 'Two', 'Three'].entries()) {
      const author = seconds === 2 ? { author_association: 'NONE', extra: { sender: { login: 'Codertocat' } } } : {};
      await relay.post('issues', issueEvent(seconds === 0 ? 'opened' : 'edited', { title, seconds, ...author }));
      await relay.workToTheEnd();
      relay.clock.now += HOUR;
    }
    expect(await rehearse(relay.runtime.config)).toContain('0 of 3 jobs waited for the budget, with 3 calls.');
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import type { Fault } from '../../sandbox/faults.ts';
import type { McpOptions } from '../../sandbox/mcp/options.ts';
import { GRANTS_KEY, linkAccount, sandboxCommands } from '../mcp/linked.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, PLATFORM, TOMASZ, told } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const HOUR = 3_600_000;

type McpInput = NonNullable<RelayConfigInput['connections'][string]['mcp']>;

let relay: TestRelay;
afterEach(() => relay.close());

async function start(mcp: McpInput = {}, sandbox: McpOptions = {}): Promise<void> {
  const connection = { mcp: { link: 'offered', commands: sandboxCommands(), ...mcp } as const };
  relay = await startRelay({
    config: exampleConfig({}, { connection }),
    sandbox: { mcp: { enabled: true, ...sandbox } },
  });
  relay.stack.secrets.put(`${relay.stack.secretPrefix}grants`, GRANTS_KEY);
}

const logged = () => relay.sandbox.data.timelogs.slice(3);
const jobStates = async () => (await relay.jobs()).map(({ status, notDone }) => (notDone ? 'not done' : status));

describe('a command of a person with a linked account', () => {
  it.each([
    [
      'log',
      `log 1h30m ${CHECKOUT} 2026-11-18 wrote tests`,
      /^:white_check_mark: Logged 1h30m on \S+ as you, 2026-11-18, as time entry \S+\.$/,
      () => expect(logged()).toMatchObject([{ hours: 1.5, date: '2026-11-18', note: /^wrote tests \[partner-relay / }]),
    ],
    [
      'log by a name',
      'log 2h "release checkout 2.4" today',
      /Logged 2h on Release checkout 2\.4 as you/,
      () => expect(logged()).toMatchObject([{ hours: 2, task_id: CHECKOUT }]),
    ],
    [
      'done',
      'done 101 102',
      /Completed checklist items 101 and 102 as you/,
      () => expect(relay.sandbox.data.checklistItems.filter(({ is_completed }) => is_completed).length).toBeGreaterThan(1),
    ],
    [
      'defect',
      'defect Login fails',
      /Created defect \S+ as you: Login fails/,
      () => expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: 'Login fails', project_id: PROJECT }),
    ],
    ['find', 'find checkout', /Release checkout 2\.4/, () => {}],
  ])('goes through that account, and not through the key: %s', async (_, typed, said, check) => {
    await start();
    await linkAccount(relay);
    const before = relay.sandbox.requests;
    const { inTheEnd } = await ask(relay, typed, { channelId: PLATFORM });
    console.log(inTheEnd);
    expect(inTheEnd).toMatch(said);
    check();
    expect(relay.sandbox.requests).toBe(before);
  });
});

import { describe, expect, it } from 'vitest';
import { diagnoseMcp, diagnosisLines, type McpDiagnosis } from '../../cli/mcp-doctor.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import type { McpOptions } from '../../sandbox/mcp/options.ts';
import { sandboxCommands } from '../as-person/linked.ts';
import { mira, startSandboxWorld } from '../as-person/world.ts';

type Commands = NonNullable<NonNullable<RelayConfigInput['connections'][string]['mcp']>['commands']>;

const commandsOf = (commands: Commands) =>
  defineConfig({ connections: { main: { mcp: { commands } } } }).connections.main?.mcp.commands ?? {};

async function diagnose(mapped: Commands = {}, mcp: McpOptions = {}): Promise<McpDiagnosis> {
  const world = await startSandboxWorld({ mcp });
  const assistant = await world.worker();
  await world.link(assistant);
  return diagnoseMcp(assistant, mira, commandsOf(mapped));
}

describe('partner-relay mcp doctor', () => {
  it('names the tools in relay.config.ts that have changed or are gone, and what to write', async () => {
    const { log, done } = sandboxCommands();
    if (!log || !done) throw new Error('the commands have no log');
    const diagnosis = await diagnose({ log: { ...log, schema: '0'.repeat(20) }, done: { ...done, tool: 'gone' } });
    expect(diagnosis.faults).toEqual([
      `log: log_time has changed; check its arguments, and set its schema to '${log.schema}'`,
      'done: the service lists no tool gone for this account',
    ]);
    const lines = diagnosisLines(diagnosis).join('\n');
    expect(lines).toContain(`  ✗ ${diagnosis.faults[0]}`);
    expect(lines).toContain(`schema ${log.schema}: {"type":"object"`);
  });

  it('finds no fault in a correct mapping', async () => {
    expect((await diagnose(sandboxCommands())).faults).toEqual([]);
  });

  it('shows the scopes that the instance gives', async () => {
    const { tools } = await diagnose({}, { tellsToolScopes: true });
    expect(tools.find(({ name }) => name === 'log_time')?.scopes).toEqual(['mcp:timelogs.write']);
  });
});

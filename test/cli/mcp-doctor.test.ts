import { describe, expect, it } from 'vitest';
import { diagnoseMcp, diagnosisLines, type McpDiagnosis } from '../../cli/mcp-doctor.ts';
import { defineConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import type { McpOptions } from '../../sandbox/mcp/options.ts';
import { sandboxCommands } from '../mcp/linked.ts';
import { mira, startSandboxWorld } from '../mcp/world.ts';

type Commands = NonNullable<NonNullable<RelayConfigInput['connections'][string]['mcp']>['commands']>;

const commandsOf = (commands: Commands) =>
  defineConfig({ connections: { main: { mcp: { commands } } } }).connections.main?.mcp.commands ?? {};

async function diagnose(mapped: Commands = {}, mcp: McpOptions = {}): Promise<McpDiagnosis> {
  const world = await startSandboxWorld({ mcp });
  const assistant = await world.worker();
  await world.link(assistant);
  await assistant.tools
    .call(mira, 'creating', 'log_time', {
      ...{ task: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01', hours: 1, comment: 'so that there is one' },
    })
    .catch(() => undefined);
  return diagnoseMcp(assistant, mira, commandsOf(mapped));
}

describe('relay mcp doctor', () => {
  it('proposes a mapping that the configuration takes, with the hashes that the tools have', async () => {
    const { proposal, without } = await diagnose();
    expect(without).toEqual([]);
    expect(commandsOf(proposal as Commands)).toEqual(proposal);
    const { log, ...others } = sandboxCommands();
    const { id: _, ...logged } = log ?? {};
    expect(proposal).toMatchObject({ log: logged, done: others.done, undo: others.undo, find: others.find });
  });

  it('goes by words, not by the names of one instance', async () => {
    const { proposal } = await diagnose(
      {},
      { renameTools: { log_time: { name: 'createWorklog', arguments: { task: 'workItemId', day: 'workDate' } } } },
    );
    expect(proposal).toMatchObject({
      log: { tool: 'createWorklog', arguments: { workItemId: '{task}', hours: '{hours}', workDate: '{date}' } },
    });
  });

  it('proposes nothing for a command that no tool looks like', async () => {
    const { without } = await diagnose({}, { renameTools: { log_time: { name: 'zap', arguments: { hours: 'zip' } } } });
    expect(without).toEqual(['log']);
  });

  it('says which of the tools in relay.config.ts have changed or are gone, and what to write', async () => {
    const { log, done } = sandboxCommands();
    if (!log || !done) throw new Error('the commands have no log');
    const diagnosis = await diagnose({ log: { ...log, schema: '0'.repeat(20) }, done: { ...done, tool: 'gone' } });
    expect(diagnosis.faults).toEqual([
      `log: log_time has changed; check its arguments, and set its schema to '${log.schema}'`,
      'done: the service lists no tool gone for this account',
    ]);
    expect(diagnosisLines(diagnosis, 'main').join('\n')).toContain("tool: 'report_defect'");
  });

  it('tells the scopes that the instance tells', async () => {
    const { tools } = await diagnose({}, { tellsToolScopes: true });
    expect(tools.find(({ name }) => name === 'log_time')?.scopes).toEqual(['mcp:timelogs.write']);
  });
});

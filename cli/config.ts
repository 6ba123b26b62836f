import { resolve } from 'node:path';
import { type ReadFolder, readOwnAutomations } from '../lib/automations/own/folder.ts';
import { configFile, loadConfig } from '../lib/config/config-file.ts';
import { tooHigh } from '../lib/config/mcp.ts';
import { counted } from '../lib/text.ts';
import type { Define } from './cli.ts';
import { printJson } from './print.ts';

/** `config check`: checks relay.config.ts and automations/, without a relay. */
export const defineConfig: Define = (command) =>
  command
    .command('check [file]')
    .description(
      'check relay.config.ts, or another file, and automations/, without a running relay; the exit status is 1 for a fault',
    )
    .option('--json', 'print the configuration as JSON, which every command takes in place of relay.config.ts')
    .action(async (file: string | undefined, { json }: { json?: boolean }) => {
      const config = await loadConfig(configFile({ RELAY_CONFIG: file ?? process.env.RELAY_CONFIG }));
      const read = await readOwnAutomations(config);
      const { own, faults } = read;
      const limits = Object.entries(config.connections).flatMap(([name, connection]) => [
        ...tooHigh(connection.limits).map((fault) => `connections.${name}.limits: ${fault}`),
        ...tooHigh(connection.mcp.limits).map((fault) => `connections.${name}.mcp.limits: ${fault}`),
      ]);
      const all = [...limits, ...faults, ...(faults.length === 0 ? await buildFaults(read) : [])];
      if (all.length > 0) throw new Error(`${counted(all.length, 'fault')} found:\n  ${all.join('\n  ')}`);
      if (json) return printJson(config);
      const { connections, github, slack, timesheets } = config;
      const parts = [
        `connections: ${Object.keys(connections).join(', ')}`,
        `repositories: ${github.repositories.map(({ name }) => name).join(', ') || 'none'}`,
        `Slack: ${slack ? slack.command : 'off'}`,
        `timesheets: ${timesheets?.teams.map(({ name }) => name).join(', ') ?? 'off'}`,
        `automations: ${own.list.map(({ name }) => name).join(', ') || 'none of your own'}`,
      ];
      console.log(`The configuration is good. ${parts.join('; ')}.`);
    });

/** What else a deployment would refuse: an `on` that loads more than a webhook may. */
async function buildFaults(read: ReadFolder): Promise<string[]> {
  if (read.files.length === 0) return [];
  const { OwnFilesError, writeOwn } = await import('../infra/bundle/own-build.ts');
  try {
    writeOwn(read, resolve(import.meta.dirname, '../node_modules/.cache/own-files'));
    return [];
  } catch (error) {
    if (error instanceof OwnFilesError) return [error.message];
    throw error;
  }
}

import type { Finding } from '../lib/checks/check.ts';
import { tooFewWorkers } from '../lib/config/capacity.ts';
import { configFile, loadConfig } from '../lib/config/config-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { createGithubClient } from '../lib/platforms/github/github-client.ts';
import { counted } from '../lib/text.ts';
import type { Define } from './cli.ts';
import { printWarnings, readCustomFolder } from './custom-folder.ts';
import { credentialsOf } from './doctor/credentials.ts';
import { tellFindings } from './doctor/doctor.ts';
import { atOnce } from './doctor/finding.ts';
import { idChecks, nameChecks } from './doctor/github.ts';
import { printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

/** `config check`: checks relay.config.ts and automations/, without a relay. */
export const define: Define = (command, { open, customFolder }) =>
  command
    .command('check [file]')
    .description(
      'check relay.config.ts, or another file, and automations/, without a running relay; the exit status is 1 for a fault',
    )
    .option(
      '--json',
      'print the configuration as JSON; name its file in RELAY_CONFIG to use it instead of relay.config.ts',
    )
    .action(async (file: string | undefined, { json }: { json?: boolean }) => {
      const config = await loadConfig(configFile({ RELAY_CONFIG: file ?? process.env.RELAY_CONFIG }));
      const { custom, faults, files, ...own } = await readCustomFolder(config, customFolder);
      if (faults.length > 0) throw new Error(`${counted(faults.length, 'fault')} found:\n  ${faults.join('\n  ')}`);
      if (json) return printJson(config);
      const { connections, github, slack, timesheets } = config;
      const parts = [
        `connections: ${Object.keys(connections).join(', ')}`,
        `repositories: ${github.repositories.map(({ name }) => name).join(', ') || 'none'}`,
        `Slack: ${slack ? slack.command : 'off'}`,
        `timesheets: ${timesheets?.teams.map(({ name }) => name).join(', ') ?? 'off'}`,
        `automations: ${custom.list.map(({ name }) => name).join(', ') || 'none of your own'}`,
      ];
      const few = tooFewWorkers(config);
      const warnings = [...(few ? [`Background workers: ${few}.`] : []), ...own.warnings];
      const lines = warnings.map((warning) => `! ${warning}`);
      await printWarnings({ files }, (line) => lines.push(line));
      const counts = lines.length === 0 ? '' : `, with ${counted(lines.length, 'warning')}`;
      console.log([`The configuration is valid${counts}. ${parts.join('; ')}.`, ...lines].join('\n'));
      tellFindings((await checkOnGithub(config, open)).filter(({ verdict }) => verdict !== 'good'));
    });

/** Asks GitHub for the ids of people's accounts, and for the current names of the repositories. */
async function checkOnGithub(config: RelayConfig, open: OpenTarget): Promise<Finding[]> {
  if (config.github.repositories.length === 0) return [];
  const credentials = await credentialsOf(config, open).catch(() => undefined);
  const { apiUrl } = config.github;
  const github =
    credentials && !credentials.githubStandIn
      ? createGithubClient({ apiUrl, secrets: credentials.secrets, clock: Date.now, fetch })
      : undefined;
  return atOnce([...(github ? nameChecks(config, github) : []), ...(await idChecks(config, github))]);
}

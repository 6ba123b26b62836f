import { Command } from 'commander';
import { OWN_FOLDER } from '../lib/automations/own/folder.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { addBackfillCommand } from './backfill.ts';
import { addBudgetCommand } from './budget.ts';
import { addCallCommand } from './call.ts';
import type { Cli } from './cli.ts';
import { addConfigCommand } from './config.ts';
import { addConsoleCommand } from './console.ts';
import { addDecisionCommands } from './decide.ts';
import { addDoctorCommand } from './doctor/doctor.ts';
import { addGithubDeliveriesCommand } from './github-deliveries/command.ts';
import { addInitCommand } from './init/init.ts';
import { addIssueCommand } from './issue.ts';
import { addJobCommands } from './jobs.ts';
import { addMcpCommand } from './mcp.ts';
import { addMcpServerCommand } from './mcp-server/command.ts';
import { addMessagesCommand } from './messages.ts';
import { addNewCommand } from './new.ts';
import { addPlanCommand } from './plan.ts';
import { addRecoverCommand } from './recover.ts';
import { addResumeCommand } from './resume.ts';
import { addRunCommand } from './run.ts';
import { addSandboxCommand } from './sandbox.ts';
import { addSecretsCommand } from './secrets.ts';
import { addSendCommand } from './send.ts';
import { addSlackManifestCommand } from './slack-manifest.ts';
import { addStopCommands } from './stop.ts';
import { openTarget } from './target.ts';
import { addTestCommand } from './test.ts';

const commands: readonly ((cli: Cli) => void)[] = [
  addSendCommand,
  addMessagesCommand,
  addSandboxCommand,
  addCallCommand,
  addMcpCommand,
  addMcpServerCommand,
  addJobCommands,
  addConsoleCommand,
  addDecisionCommands,
  addIssueCommand,
  addBackfillCommand,
  addNewCommand,
  addPlanCommand,
  addTestCommand,
  addBudgetCommand,
  addResumeCommand,
  addRecoverCommand,
  addStopCommands,
  addRunCommand,
  addInitCommand,
  addConfigCommand,
  addDoctorCommand,
  addSecretsCommand,
  addGithubDeliveriesCommand,
  addSlackManifestCommand,
];

/** All commands of `relay`. @param given in place of what `--stage` and relay.config.ts name */
export function relayProgram(given: Partial<Cli> = {}): Command {
  const program = new Command('relay')
    .description('Operate Partner Relay from the command line')
    .option(
      '--stage <name>',
      'use this deployed stage, with your AWS credentials, instead of the relay on this machine',
    )
    .showHelpAfterError('(run relay --help for all commands)');
  const stage = () => program.opts<{ stage?: string }>().stage;
  const cli: Cli = {
    program,
    stage,
    open: () => openTarget(cli.stage()),
    readConfig: () => loadConfig(),
    ownFolder: OWN_FOLDER,
    ...given,
  };
  for (const add of commands) add(cli);
  return program;
}

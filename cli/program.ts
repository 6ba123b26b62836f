import { Command } from 'commander';
import { addBackfillCommand } from './backfill.ts';
import { addBudgetCommand } from './budget.ts';
import { addCallCommand } from './call.ts';
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

/** All commands of `relay`. */
export function relayProgram(): Command {
  const program = new Command('relay')
    .description('Operate Partner Relay from the command line')
    .option(
      '--stage <name>',
      'use this deployed stage, with your AWS credentials, instead of the relay on this machine',
    )
    .showHelpAfterError('(run relay --help for all commands)');
  const stage = () => program.opts<{ stage?: string }>().stage;
  const open = () => openTarget(stage());
  addSendCommand(program, open);
  addMessagesCommand(program, open);
  addSandboxCommand(program, open);
  addCallCommand(program, open);
  addMcpCommand(program, open, stage);
  addMcpServerCommand(program, open, stage);
  addJobCommands(program, open);
  addConsoleCommand(program, open, stage);
  addDecisionCommands(program, open);
  addIssueCommand(program, open);
  addBackfillCommand(program, open);
  addPlanCommand(program, open);
  addTestCommand(program);
  addBudgetCommand(program, open);
  addResumeCommand(program, open);
  addRecoverCommand(program, open);
  addStopCommands(program, stage);
  addRunCommand(program, stage);
  addInitCommand(program, stage);
  addConfigCommand(program);
  addDoctorCommand(program, open);
  addSecretsCommand(program, stage);
  addGithubDeliveriesCommand(program, open);
  addSlackManifestCommand(program, open);
  return program;
}

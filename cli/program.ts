import { Command } from 'commander';
import type { Cli, Define } from './cli.ts';
import { pasteFor } from './to-paste.ts';

/** Each command with its description and the module that defines it. A command loads only its own module. */
export const commands: Record<string, Record<string, readonly [string, () => Promise<{ define: Define }>]>> = {
  'Set up': {
    init: ['write relay.config.ts and the secrets, and create the apps', () => import('./init/init.ts')],
    config: ['check relay.config.ts and automations/', () => import('./config.ts')],
    secrets: ['enter the secrets of a stage, or of this machine', () => import('./secrets.ts')],
    'slack-manifest': ['print the manifest that creates the Slack app', () => import('./slack-manifest.ts')],
    doctor: ['check the configuration, the credentials and the service', () => import('./doctor/doctor.ts')],
  },
  'Change what it does': {
    new: ['begin an automation of your own', () => import('./new.ts')],
    test: ['check what the configuration makes of events', () => import('./test.ts')],
    plan: ['show what deliveries would do, without sending', () => import('./plan.ts')],
  },
  'Try it': {
    start: ['run the relay here, or with --stage restart a stopped stage', () => import('./start.ts')],
    send: ['send an event as GitHub, Slack or another tool does', () => import('./send.ts')],
    console: ['show the console, or with --stage that of a stage', () => import('./console.ts')],
    messages: ['show the messages sent to the local Slack stand-in', () => import('./messages.ts')],
    sandbox: ['list the records of the sandbox, with their ids', () => import('./sandbox.ts')],
    run: ['run a schedule now, and show the result', () => import('./run.ts')],
    'github-deliveries': [
      "bring GitHub's events to this machine, without a tunnel",
      () => import('./github-deliveries/command.ts'),
    ],
  },
  Jobs: {
    jobs: ['list jobs', () => import('./jobs.ts')],
    job: ['show what happened to a job, step by step', async () => ({ define: (await import('./jobs.ts')).job })],
    replay: ['continue a parked or a waiting job', async () => ({ define: (await import('./decide.ts')).replay })],
    resolve: [
      'settle a creation whose outcome is unknown',
      async () => ({ define: (await import('./decide.ts')).resolve }),
    ],
    discard: [
      'end a parked job without doing the rest',
      async () => ({ define: (await import('./decide.ts')).discard }),
    ],
    issue: ['show which defect an issue has, or change it', () => import('./issue.ts')],
    backfill: ['turn the existing issues of a repository into defects', () => import('./backfill.ts')],
  },
  'The service': {
    budget: ['show what each connection may still send', () => import('./budget.ts')],
    resume: ['end the pause of a connection, and continue its jobs', () => import('./resume.ts')],
    call: ['call an operation of the partner API', () => import('./call.ts')],
    mcp: ["call tools of the service's MCP endpoint as yourself", () => import('./mcp.ts')],
  },
  'A deployed stage': {
    deploy: ['deploy it, and watch its alarms', () => import('./deploy/deploy.ts')],
    build: ['write what a deployment needs, without rights in the account', () => import('./deploy/build.ts')],
    'deploy-role': ['deploy the role with which GitHub Actions deploys', () => import('./deploy/deploy-role.ts')],
    cdk: ["call the CDK's own command line", () => import('./deploy/cdk.ts')],
    'mcp-server': ['let an assistant read the relay, and help you decide', () => import('./mcp-server/command.ts')],
    stop: ['stop a stage: it stores events and does nothing with them', () => import('./stop.ts')],
    recover: ['find defects and deliveries after the table was lost', () => import('./recover.ts')],
  },
};

/** Returns the program with all commands. @param given replaces what `--stage` and relay.config.ts name */
export function relayProgram(given: Partial<Cli> = {}): Command {
  const program = new Command('partner-relay')
    .description('Operate Partner Relay from the command line')
    .usage('<command> [options]')
    .option('--stage <name>', 'use this deployed stage, with your AWS credentials, instead of the relay here')
    .showHelpAfterError('(run npx partner-relay --help for all commands)');
  const stage = () => program.opts<{ stage?: string }>().stage;
  const cli: Cli = {
    stage,
    open: async () => (await import('./target.ts')).openTarget(cli.stage()),
    readConfig: async () => (await import('../lib/config/config-file.ts')).loadConfig(),
    ...given,
  };
  for (const [group, ofGroup] of Object.entries(commands)) {
    program.commandsGroup(`${group}:`);
    for (const [name, [description]] of Object.entries(ofGroup))
      namesItsHelp(program.command(name).description(description), name);
  }
  program.commandsGroup('More:').helpCommand('help [command]', 'explain a command');
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  const all = Object.assign({}, ...Object.values(commands)) as (typeof commands)[string];
  program.hook('preSubcommand', async (_, command) => {
    pasteFor(cli.stage());
    const module = await all[command.name()]?.[1]();
    module?.define(command, cli);
    for (const one of command.commands) namesItsHelp(one, `${command.name()} ${one.name()}`);
  });
  return program;
}

const namesItsHelp = (command: Command, words: string) =>
  command.showHelpAfterError(`(npx partner-relay ${words} --help explains this command)`);

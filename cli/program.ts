import { Command } from 'commander';
import type { Cli, Define } from './cli.ts';

/** Each command with its description, and the module that defines it. A command loads no other. */
export const commands: Record<string, Record<string, readonly [string, () => Promise<Define>]>> = {
  'Set up': {
    init: [
      'write relay.config.ts and the secrets, and create the apps',
      async () => (await import('./init/init.ts')).defineInit,
    ],
    config: ['check relay.config.ts and automations/', async () => (await import('./config.ts')).defineConfig],
    secrets: [
      'enter the secrets of a stage, or of this machine',
      async () => (await import('./secrets.ts')).defineSecrets,
    ],
    'slack-manifest': [
      'print the manifest that creates the Slack app',
      async () => (await import('./slack-manifest.ts')).defineSlackManifest,
    ],
    doctor: [
      'check the configuration, the credentials and the service',
      async () => (await import('./doctor/doctor.ts')).defineDoctor,
    ],
  },
  'Change what it does': {
    new: ['begin an automation of your own', async () => (await import('./new.ts')).defineNew],
    test: ['check what the configuration makes of events', async () => (await import('./test.ts')).defineTest],
    plan: ['show what deliveries would do, without sending', async () => (await import('./plan.ts')).definePlan],
  },
  'Try it': {
    start: [
      'run the relay here, or with --stage start that again',
      async () => (await import('./start.ts')).defineStart,
    ],
    send: ['send an event as GitHub, Slack or another tool does', async () => (await import('./send.ts')).defineSend],
    messages: [
      'show the messages sent to the local Slack stand-in',
      async () => (await import('./messages.ts')).defineMessages,
    ],
    sandbox: [
      'list the records of the sandbox, with their ids',
      async () => (await import('./sandbox.ts')).defineSandbox,
    ],
    run: ['run a schedule now, and show the result', async () => (await import('./run.ts')).defineRun],
    'github-deliveries': [
      "bring GitHub's events to this machine, without a tunnel",
      async () => (await import('./github-deliveries/command.ts')).defineGithubDeliveries,
    ],
  },
  Jobs: {
    jobs: ['list jobs', async () => (await import('./jobs.ts')).defineJobs],
    job: ['show what happened to a job, step by step', async () => (await import('./jobs.ts')).defineJob],
    replay: ['continue a parked or a waiting job', async () => (await import('./decide.ts')).defineReplay],
    resolve: ['settle a creation whose outcome is unknown', async () => (await import('./decide.ts')).defineResolve],
    discard: ['end a parked job without doing the rest', async () => (await import('./decide.ts')).defineDiscard],
    issue: ['show which defect an issue has, or change it', async () => (await import('./issue.ts')).defineIssue],
    backfill: [
      'turn the existing issues of a repository into defects',
      async () => (await import('./backfill.ts')).defineBackfill,
    ],
  },
  'The service': {
    budget: ['show what each connection may still send', async () => (await import('./budget.ts')).defineBudget],
    resume: ['end the pause of a connection, and go on', async () => (await import('./resume.ts')).defineResume],
    call: ['call an operation of the partner API', async () => (await import('./call.ts')).defineCall],
    mcp: ["call tools of the service's MCP endpoint as yourself", async () => (await import('./mcp.ts')).defineMcp],
  },
  'A deployed stage': {
    deploy: ['deploy it, and watch its alarms', async () => (await import('./deploy/deploy.ts')).defineDeploy],
    build: [
      'write what a deployment needs, without any right',
      async () => (await import('./deploy/build.ts')).defineBuild,
    ],
    'deploy-role': [
      'deploy the role with which GitHub Actions deploys',
      async () => (await import('./deploy/deploy-role.ts')).defineDeployRole,
    ],
    cdk: ["call the CDK's own command line", async () => (await import('./deploy/cdk.ts')).defineCdk],
    console: ['show it in the browser', async () => (await import('./console.ts')).defineConsole],
    'mcp-server': [
      'let an assistant read it, and decide with you',
      async () => (await import('./mcp-server/command.ts')).defineMcpServer,
    ],
    stop: ['stop it: it keeps what arrives, and does nothing', async () => (await import('./stop.ts')).defineStop],
    recover: [
      'find defects and deliveries after the table was lost',
      async () => (await import('./recover.ts')).defineRecover,
    ],
  },
};

/** All commands of `partner-relay`. @param given in place of what `--stage` and relay.config.ts name */
export function relayProgram(given: Partial<Cli> = {}): Command {
  const program = new Command('partner-relay')
    .description('Operate Partner Relay from the command line')
    .usage('<command> [options]')
    .option('--stage <name>', 'use this deployed stage, with your AWS credentials, instead of the relay here')
    .showHelpAfterError('(run partner-relay --help for all commands)');
  const stage = () => program.opts<{ stage?: string }>().stage;
  const cli: Cli = {
    stage,
    open: async () => (await import('./target.ts')).openTarget(cli.stage()),
    readConfig: async () => (await import('../lib/config/config-file.ts')).loadConfig(),
    ...given,
  };
  for (const [group, ofGroup] of Object.entries(commands)) {
    program.commandsGroup(`${group}:`);
    for (const [name, [description]] of Object.entries(ofGroup)) program.command(name).description(description);
  }
  program.commandsGroup('More:').helpCommand('help [command]', 'explain a command');
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  const all = Object.assign({}, ...Object.values(commands)) as (typeof commands)[string];
  program.hook('preSubcommand', async (_, command) => {
    const define = await all[command.name()]?.[1]();
    define?.(command, cli);
  });
  return program;
}

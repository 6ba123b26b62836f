import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { ZipFile } from 'yazl';
import * as z from 'zod';
import { loadConfig } from '../lib/config/config-file.ts';
import { findRepository } from '../lib/config/find-repository.ts';
import { githubCredentials, githubWebhookSecret } from '../lib/state/secrets/secrets.ts';
import { EXAMPLE_REPOSITORY } from '../local/examples/github-event.ts';
import { signedByGithub } from '../local/examples/signed-request.ts';
import { exampleRun } from '../local/examples/workflow-run.ts';
import { printText } from './print.ts';
import { reach } from './reach.ts';
import type { OpenTarget, Target } from './target.ts';
import { addWaitOptions, printOutcome, type WaitOptions } from './wait-for-jobs.ts';

interface SendWorkflowOptions extends WaitOptions {
  junit: string[];
  repo?: string;
  branch?: string;
  event: string;
}

const answered = z.object({ jobs: z.array(z.string()) });

/** `send workflow`: a workflow run that has ended, with its test reports as an artifact of the stand-in for GitHub. */
export function addSendWorkflowCommand(send: Command, open: OpenTarget): void {
  const workflow = send
    .command('workflow')
    .description('send a workflow run that has ended, with test reports that the stand-in for GitHub keeps')
    .requiredOption('--junit <report.xml>', 'a JUnit XML file; repeat it for more', collected)
    .option('--repo <owner/name>', "the repository, in place of GitHub's example repository")
    .option('--branch <name>', 'the branch; by default the first one that counts')
    .option('--event <name>', 'what started the run', 'push')
    .option('--json', 'print the status and the answer as JSON, and with --wait the jobs')
    .addHelpText(
      'after',
      `
The run failed if one of its tests did. Each run is newer than those before:
  npm run -s relay -- send workflow --junit docs/guides/junit.xml --wait
  npm run -s relay -- sandbox scenarios

A run of a pull request, which only gets a check:
  npm run -s relay -- send workflow --junit docs/guides/junit.xml --event pull_request --branch topic`,
    )
    .action(async (_: unknown, command: Command) => {
      // Options before `workflow` are those of `send`.
      const options = command.optsWithGlobals<SendWorkflowOptions>();
      const target = await open();
      const wanted = options.repo ?? EXAMPLE_REPOSITORY;
      const settings = findRepository(await loadConfig(), wanted)?.tests;
      if (!settings) throw new Error(`${wanted} has no tests in relay.config.ts: add them under github.repositories`);
      const reports = options.junit.map((file) => ({ name: basename(file), text: readReport(file) }));
      const { runId, repository, payload } = exampleRun({
        repository: options.repo,
        workflow: settings.workflows[0] ?? '',
        branch: options.branch ?? settings.branches[0] ?? '',
        startedBy: options.event,
        hasPassed: !reports.some(({ text }) => /<(failure|error)\b/.test(text)),
      });
      await upload(
        target,
        `/repos/${repository}/actions/runs/${runId}/artifacts`,
        settings.artifacts[0] ?? '',
        reports,
      );
      const { webhookSecret } = await target.stores.secrets.current('github-webhook', githubWebhookSecret);
      const request = signedByGithub('workflow_run', JSON.stringify(payload), webhookSecret);
      const response = await reach(target.githubWebhookUrl, { method: 'POST', ...request });
      const answer: unknown = await response.json();
      if (!options.json) printText(`${response.status} ${JSON.stringify(answer)}\nrun ${runId} of ${repository}`);
      if (!response.ok) process.exitCode = 1;
      const ids = answered.safeParse(answer).data?.jobs ?? [];
      await printOutcome({ run: runId, status: response.status, answer }, ids, target.stores, options);
    });
  addWaitOptions(workflow);
}

/** @param pattern the name of the artifact, in which `*` may be anything */
async function upload(
  { githubStandIn, stores }: Target,
  path: string,
  pattern: string,
  reports: readonly { name: string; text: string }[],
): Promise<void> {
  if (githubStandIn === undefined) {
    throw new Error(
      'the reports go to the stand-in for GitHub on this machine, and this relay has none: push a commit',
    );
  }
  const zip = new ZipFile();
  for (const [index, { name, text }] of reports.entries()) zip.addBuffer(Buffer.from(text), `${index}/${name}`);
  zip.end();
  const { token } = await stores.secrets.current('github', githubCredentials);
  const name = encodeURIComponent(pattern.replaceAll('*', '1'));
  const response = await reach(`${githubStandIn}${path}?name=${name}`, {
    method: 'POST',
    headers: { authorization: `token ${token}` },
    body: new Uint8Array(await buffer(zip.outputStream)),
  });
  if (!response.ok) throw new Error(`the stand-in for GitHub does not take the reports: ${await response.text()}`);
}

function readReport(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${file} cannot be read`, { cause });
  }
}

function collected(file: string, before: string[] = []): string[] {
  return [...before, file];
}

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { ZipFile } from 'yazl';
import * as z from 'zod';
import { loadConfig } from '../lib/config/config-file.ts';
import { findRepository } from '../lib/config/find-repository.ts';
import { githubCredentials } from '../lib/state/secrets/github-secret.ts';
import { githubWebhookSecret } from '../lib/state/secrets/secrets.ts';
import { EXAMPLE_REPOSITORY, exampleEvent } from '../local/examples/github-event.ts';
import { signedByGithub } from '../local/examples/signed-request.ts';
import { printText } from './print.ts';
import { reach } from './reach.ts';
import type { OpenTarget } from './target.ts';
import { addWaitOptions, printOutcome, type WaitOptions } from './wait-for-jobs.ts';

interface SendWorkflowOptions extends WaitOptions {
  junit: string;
  repo: string;
  branch: string;
  event: string;
}

const payload = z.looseObject({ repository: z.looseObject({}), workflow_run: z.looseObject({}) });
const answered = z.looseObject({ jobs: z.array(z.string()) });

/** `send workflow`: a workflow run that has ended, with a test report as an artifact of the stand-in for GitHub. */
export function addSendWorkflowCommand(send: Command, open: OpenTarget): void {
  const workflow = send
    .command('workflow')
    .description('send a workflow run that has ended now, with a test report that the stand-in for GitHub keeps')
    .requiredOption('--junit <report.xml>', 'a JUnit XML file; the run failed if one of its tests did')
    .option('--repo <owner/name>', 'the repository', EXAMPLE_REPOSITORY)
    .option('--branch <name>', 'the branch', 'main')
    .option('--event <name>', 'what started the run: push, schedule, pull_request, …', 'push')
    .option('--json', 'print the status and the answer as JSON, and with --wait the jobs')
    .action(async (_: unknown, command: Command) => {
      // Options before `workflow` are those of `send`.
      const { repo, branch, event, ...options } = command.optsWithGlobals<SendWorkflowOptions>();
      const { githubStandIn, githubWebhookUrl, stores } = await open();
      if (githubStandIn === undefined) throw new Error('this relay has no stand-in for GitHub: push a commit');
      const settings = findRepository(await loadConfig(), repo)?.tests;
      if (!settings) throw new Error(`${repo} has no tests in relay.config.ts: add them under github.repositories`);
      const report = readFileSync(options.junit);
      const example = payload.parse(
        exampleEvent({ event: 'workflow_run', action: 'completed', repository: repo }).payload,
      );
      const [id, now] = [Date.now(), `${new Date().toISOString().slice(0, 19)}Z`];
      const body = JSON.stringify({
        ...example,
        workflow: { path: `.github/workflows/${settings.workflows[0]}` },
        workflow_run: {
          ...example.workflow_run,
          ...{ id, run_number: Math.floor(id / 1_000) % 1_000_000, event, head_branch: branch },
          ...{ head_repository: example.repository, created_at: now, run_started_at: now, updated_at: now },
          conclusion: /<(failure|error)\b/.test(report.toString()) ? 'failure' : 'success',
          html_url: `https://github.com/${repo}/actions/runs/${id}`,
        },
      });
      const artifact = encodeURIComponent(settings.artifacts[0]?.replaceAll('*', '1') ?? '');
      const zip = new ZipFile();
      zip.addBuffer(report, basename(options.junit));
      zip.end();
      const { token } = await stores.secrets.current('github', githubCredentials);
      await reach(`${githubStandIn}/repos/${repo}/actions/runs/${id}/artifacts?name=${artifact}`, {
        method: 'POST',
        headers: { authorization: `token ${token}` },
        body: new Uint8Array(await buffer(zip.outputStream)),
      });
      const { webhookSecret } = await stores.secrets.current('github-webhook', githubWebhookSecret);
      const delivery = signedByGithub('workflow_run', body, webhookSecret);
      const response = await reach(githubWebhookUrl, { method: 'POST', ...delivery });
      const answer = answered.parse(await response.json());
      if (!options.json) printText(`${response.status} ${JSON.stringify(answer)}\nrun ${id} of ${repo}`);
      await printOutcome({ run: id, status: response.status, answer }, answer.jobs, stores, options);
    });
  addWaitOptions(workflow);
}

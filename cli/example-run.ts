import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import * as z from 'zod';
import { loadConfig } from '../lib/config/config-file.ts';
import { findRepository } from '../lib/config/settings.ts';
import { githubCredentials } from '../lib/platforms/github/github-client.ts';
import { EXAMPLE_REPOSITORY, exampleEvent } from '../local/examples/github-event.ts';
import { reach } from './reach.ts';
import type { Target } from './target.ts';

const payload = z.looseObject({ repository: z.looseObject({}), workflow_run: z.looseObject({}) });

/**
 * Uploads the reports of a folder to GitHub's stand-in, as the artifact of a run of main that has just ended.
 *
 * @returns the event's payload
 */
export async function exampleRun(
  folder: string,
  repo = EXAMPLE_REPOSITORY,
  { githubStandIn, stores }: Target,
): Promise<object> {
  if (githubStandIn === undefined) throw new Error('this relay has no stand-in for GitHub: push a commit');
  const settings = findRepository(await loadConfig(), repo)?.tests;
  if (!settings) throw new Error(`${repo} has no tests in relay.config.ts: add them under github.repositories`);
  const reports = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
  const zip = new ZipFile();
  for (const { name, text } of reports) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  const id = Date.now();
  const artifact = encodeURIComponent(settings.artifacts[0]?.replaceAll('*', '1') ?? '');
  const { token } = await stores.secrets.current('github', githubCredentials);
  await reach(`${githubStandIn}/repos/${repo}/actions/runs/${id}/artifacts?name=${artifact}`, {
    method: 'POST',
    headers: { authorization: `token ${token}` },
    body: new Uint8Array(await buffer(zip.outputStream)),
  });
  const example = payload.parse(exampleEvent({ event: 'workflow_run', action: 'completed', repository: repo }).payload);
  const now = `${new Date(id).toISOString().slice(0, 19)}Z`;
  return {
    ...example,
    workflow: { path: `.github/workflows/${settings.workflows[0]}` },
    workflow_run: {
      ...example.workflow_run,
      ...{ id, run_number: Math.floor(id / 1_000) % 1_000_000, event: 'push', head_branch: 'main' },
      ...{ head_repository: example.repository, created_at: now, run_started_at: now, updated_at: now },
      conclusion: reports.some(({ text }) => /<(failure|error)\b/.test(text)) ? 'failure' : 'success',
      html_url: `https://github.com/${repo}/actions/runs/${id}`,
    },
  };
}

import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { SignedRequest } from './signed-request.ts';

/** GitHub's own example of a webhook secret. */
export const WEBHOOK_SECRET = "It's a Secret to Everybody";

interface Example extends Record<string, unknown> {
  action: string;
  issue: Record<string, unknown>;
  repository: Record<string, unknown>;
}

/**
 * Makes deliveries of new issues, each another one: the real `issues` `opened` of `@octokit/webhooks-examples`, in the
 * first repository of the configuration that makes defects of issues, with a label that does. With `relay.config.ts`
 * as it comes these are the example's own. They happen now, because the relay ignores what is older than GitHub
 * redelivers.
 *
 * @throws {Error} where the configuration makes no defect of any issue
 */
export function openedIssues(config: RelayConfig): () => SignedRequest {
  const configured = config.github.repositories.find((repository) => repository.issueToDefect);
  const label = configured?.issueToDefect?.labels[0];
  if (!configured || !label) throw new Error('relay.config.ts has no repository with issueToDefect to measure with');
  const example = readExample();
  let issues = 0;
  return () => {
    issues += 1;
    const body = JSON.stringify({
      ...example,
      issue: {
        ...example.issue,
        id: 4_000_000_000 + issues,
        number: issues,
        labels: [{ ...firstLabel(example), name: label }],
        updated_at: new Date().toISOString(),
      },
      repository: { ...example.repository, full_name: configured.name },
    });
    return {
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'issues',
        'x-github-delivery': randomUUID(),
        'x-hub-signature-256': `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`,
      },
    };
  };
}

/** Read as a file, so that TypeScript need not infer the type of 4 MB. */
function readExample(): Example {
  const path = createRequire(import.meta.url).resolve('@octokit/webhooks-examples/api.github.com/index.json');
  const all = JSON.parse(readFileSync(path, 'utf8')) as { name: string; examples: Example[] }[];
  const opened = all.find(({ name }) => name === 'issues')?.examples.find(({ action }) => action === 'opened');
  if (!opened) throw new Error('@octokit/webhooks-examples has no opened issue any more');
  return opened;
}

function firstLabel({ issue }: Example): object {
  return (issue.labels as object[])[0] ?? {};
}

import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { GithubApi } from './github-api.ts';
import { exampleOf } from './issue-events.ts';

type Fields = Record<string, unknown>;

const example = exampleOf('workflow_run', 'completed') as Fields & { workflow_run: Fields; repository: Fields };

export const REPOSITORY = { id: 186_853_002, full_name: 'Codertocat/Hello-World' };

/** A run of `ci.yml`. A higher number was created a minute later. */
export interface WantedRun {
  number: number;
  attempt?: number;
  event?: string;
  branch?: string | null;
  conclusion?: string;
  /** The repository of the commit, as owner/name. */
  head?: { id: number } | null;
  file?: string;
  createdAt?: string;
  sha?: string;
}

export const idOf = (number: number) => 9_000_000 + number;

/** GitHub's example of a completed workflow run, with changes. */
export function workflowRun(wanted: WantedRun): Fields {
  const { number, attempt = 1, event = 'push', branch = 'main', conclusion = 'success', head = REPOSITORY } = wanted;
  const created_at = wanted.createdAt ?? new Date(Date.parse('2026-11-20T09:00:00Z') + number * 60_000).toISOString();
  return {
    ...example,
    action: 'completed',
    repository: { ...example.repository, ...REPOSITORY },
    workflow: { ...(example.workflow as Fields), path: `.github/workflows/${wanted.file ?? 'ci.yml'}` },
    workflow_run: {
      ...example.workflow_run,
      id: idOf(number),
      run_number: number,
      run_attempt: attempt,
      event,
      head_branch: branch,
      // A line that links a defect in other texts.
      head_commit: { message: 'Add sign-in\n\nTask: 12' },
      head_sha: wanted.sha ?? String(number).padStart(40, 'a'),
      head_repository: head,
      conclusion,
      created_at,
      run_started_at: created_at,
      updated_at: '2026-11-20T09:55:00Z',
      html_url: `https://github.com/${REPOSITORY.full_name}/actions/runs/${idOf(number)}`,
    },
  };
}

/** An archive of files, by name. */
export async function archiveOf(files: Readonly<Record<string, string | Uint8Array>>, options = {}): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name, options);
  zip.end();
  return buffer(zip.outputStream);
}

/** Uploads an artifact with a report to the run. */
export async function upload(
  github: Pick<GithubApi, 'artifacts'>,
  number: number,
  report: string | Uint8Array,
  name = 'junit',
): Promise<void> {
  const archive = typeof report === 'string' ? await archiveOf({ 'report.xml': report }) : report;
  const id = github.artifacts.size + 1;
  github.artifacts.set(id, { runId: idOf(number), name, createdAt: '2026-11-20T09:54:00Z', archive });
}

/** A test: its properties, and `failure` or `skipped` if it did not pass. */
export interface WantedTest {
  name?: string;
  scenario?: string | number;
  case?: string | number;
  step?: string | number;
  coverage?: string | number;
  result?: 'failure' | 'error' | 'skipped';
}

/** A report with these tests. */
export function junit(...tests: readonly WantedTest[]): string {
  const cases = tests.map(({ name = 'works', result, ...ids }) => {
    const properties = Object.entries(ids).map(([what, value]) => `<property name="pm_${what}" value="${value}"/>`);
    const outcome = result ? `<${result} message="no"/>` : '';
    return `<testcase classname="checkout" name="${name}"><properties>${properties.join('')}</properties>${outcome}</testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="all">${cases.join('\n')}</testsuite></testsuites>`;
}

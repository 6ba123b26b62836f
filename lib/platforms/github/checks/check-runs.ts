import { cutToBytes, cutToLength } from '../../../text.ts';
import {
  type GithubClient,
  GithubRefusal,
  type GithubRequest,
  ownerAndRepo,
  type RepositoryAddress,
} from '../github-client.ts';

/** A check of a commit, as shown on a pull request. */
export interface CheckRun {
  /** The name under which a branch requires the check. */
  name: string;
  headSha: string;
  /** The subject of the check. A commit has one check run for each name and `externalId`. */
  externalId: string;
  /** Undefined while the check is running. A branch that requires the check accepts `success` and `neutral`. */
  conclusion: 'success' | 'neutral' | 'failure' | undefined;
  /** Plain text. */
  title: string;
  /** Markdown. Text from outside must first go through plain-text.ts. */
  summary: string;
}

/** The result for a check run. */
type MadeCheckRun = { id: number; url: string | null } | { leftOut: string };

/** GitHub accepts 65,535 characters, and does not say how it counts them, so this counts bytes. */
const SUMMARY_BYTES = 65_535;
const CUT = '\n\n… The rest does not fit into a check.';
const TITLE_LENGTH = 200;
const PAGE_SIZE = 100;

/**
 * Creates the check run of a commit, or updates the one with the same name and `externalId`. So the call may be
 * repeated after a lost answer. Only an App may write check runs.
 * https://docs.github.com/en/rest/checks/runs
 *
 * @param ensureTime as in a `Reply`: another worker may have created the check run while this one was stalled
 * @throws {PlatformRateLimited | PlatformUnanswered | GithubRefusal}
 */
export function setCheckRun(
  github: GithubClient,
  place: RepositoryAddress,
  run: CheckRun,
  ensureTime: () => void,
): Promise<MadeCheckRun> {
  return github.ask<MadeCheckRun>(
    async () => {
      const app = await github.at(place, 'app');
      if (app?.appId === undefined) throw new GithubRefusal(WITHOUT_APP);
      const { request } = app;
      const repository = ownerAndRepo(place.repository);
      const known = await find(request, { ...repository, app_id: Number(app.appId) }, run);
      const fields = { ...repository, ...fieldsOf(run) };
      ensureTime();
      const { data } =
        known === undefined
          ? await request('POST /repos/{owner}/{repo}/check-runs', fields)
          : await request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...fields, check_run_id: known });
      return { id: Number(data.id), url: data.html_url };
    },
    ({ status, message }) => {
      if (status === 422 && /commit/i.test(message)) return { leftOut: 'GitHub does not have the commit any more' };
      throw new GithubRefusal(
        `GitHub refuses the check with ${status}: give the App the permission "Checks: read and write" in ${place.repository}. npx partner-relay doctor says what it may do.`,
      );
    },
  );
}

const WITHOUT_APP =
  'GitHub takes checks from a GitHub App only, and the github secret has none: create one with npx partner-relay init --keep --github-app';

/** @returns the id of the newest check run */
async function find(
  request: GithubRequest,
  place: { owner: string; repo: string; app_id: number },
  { name, headSha, externalId }: CheckRun,
): Promise<number | undefined> {
  const { data } = await request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
    ...place,
    ref: headSha,
    check_name: name,
    filter: 'all',
    per_page: PAGE_SIZE,
  });
  const ours = data.check_runs.flatMap(({ id, external_id }) => (external_id === externalId ? Number(id) : []));
  return ours.length === 0 ? undefined : Math.max(...ours);
}

function fieldsOf({ name, headSha, externalId, conclusion, title, summary }: CheckRun) {
  const about = {
    name,
    head_sha: headSha,
    external_id: externalId,
    output: { title: cutToLength(title, TITLE_LENGTH, '…'), summary: cutToBytes(summary, SUMMARY_BYTES, CUT) },
  };
  return conclusion === undefined
    ? { ...about, status: 'in_progress' as const }
    : { ...about, status: 'completed' as const, conclusion };
}

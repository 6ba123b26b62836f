import { RequestError } from '@octokit/request-error';
import type { Secrets } from '../secrets/secrets.ts';
import { createGithubClient } from './github-client.ts';
import type { IssueAddress } from './issue-reader.ts';
import { passingFailure } from './passing-failure.ts';

export interface Collaborators {
  /**
   * Whether somebody may at least triage issues of the repository. What an answer says is kept for five minutes.
   * @returns undefined where the secret has no credentials, or GitHub does not tell them
   * @throws {Interruption} for a failure that may pass
   */
  has(place: Pick<IssueAddress, 'repository' | 'installationId'>, login: string): Promise<boolean | undefined>;
}

const CALL_TIMEOUT_MS = 5_000;
const KEPT_FOR_MS = 5 * 60_000;
const MOST_KEPT = 1_000;
/** What everybody has in a public repository, and people from outside in no other. */
const READERS = new Set(['read', 'none']);

export interface CollaboratorsOptions {
  apiUrl: string;
  secrets: Secrets;
  clock: () => number;
  fetch?: typeof globalThis.fetch;
}

/** https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user */
export function createCollaborators({
  apiUrl,
  secrets,
  clock,
  fetch = globalThis.fetch,
}: CollaboratorsOptions): Collaborators {
  const github = createGithubClient({ apiUrl, secrets, fetch, timeoutMs: CALL_TIMEOUT_MS });
  const kept = new Map<string, { is: boolean; at: number }>();

  async function ask(place: Pick<IssueAddress, 'repository' | 'installationId'>, login: string) {
    const [owner = '', repo = ''] = place.repository.split('/');
    try {
      const authorized = await github.at(place);
      const path = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
      const answer = await authorized?.request(path, { owner, repo, username: login });
      // `permission` calls triage `read`; the role tells them apart. An older server has no role.
      return answer && !READERS.has(answer.data.role_name ?? answer.data.permission);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const passing = passingFailure(error, github, clock());
      if (passing) throw passing;
      return undefined;
    }
  }

  return {
    async has(place, login) {
      const name = `${place.repository} ${login}`.toLowerCase();
      const known = kept.get(name);
      if (known && known.at + KEPT_FOR_MS > clock()) return known.is;
      const is = await ask(place, login);
      if (kept.size >= MOST_KEPT) kept.clear();
      if (is !== undefined) kept.set(name, { is, at: clock() });
      return is;
    },
  };
}

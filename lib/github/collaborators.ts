import type { GithubForJobs } from './github-for-jobs.ts';
import type { IssueAddress } from './issue-reader.ts';

export interface Collaborators {
  /**
   * Whether somebody may at least triage issues of the repository. What an answer says is kept for five minutes.
   * @returns undefined where the secret has no credentials, or GitHub does not tell them
   * @throws {Interruption} for a failure that may pass
   */
  has(place: Pick<IssueAddress, 'repository' | 'installationId'>, login: string): Promise<boolean | undefined>;
}

const KEPT_FOR_MS = 5 * 60_000;
const MOST_KEPT = 1_000;
/** What everybody has in a public repository, and people from outside in no other. */
const READERS = new Set(['read', 'none']);

/** https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user */
export function createCollaborators(github: GithubForJobs, clock: () => number): Collaborators {
  const kept = new Map<string, { is: boolean; at: number }>();

  const ask = (place: Pick<IssueAddress, 'repository' | 'installationId'>, login: string) =>
    github.ask<boolean | undefined>(
      async () => {
        const [owner = '', repo = ''] = place.repository.split('/');
        const authorized = await github.at(place);
        const path = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
        const answer = await authorized?.request(path, { owner, repo, username: login });
        // `permission` calls triage `read`; the role tells them apart. An older server has no role.
        return answer && !READERS.has(answer.data.role_name ?? answer.data.permission);
      },
      () => undefined,
    );

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

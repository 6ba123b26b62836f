import { type GithubClient, GithubRefusal, ownerAndRepo, type RepositoryAddress } from '../github-client.ts';

/**
 * Returns true if a commit is on a branch. A workflow run names tags and branches alike, so the name is looked up among
 * branches only, and the two commits are compared.
 * https://docs.github.com/en/rest/branches/branches#get-a-branch
 * https://docs.github.com/en/rest/commits/commits#compare-two-commits
 *
 * @returns false if GitHub does not show the branch or the commit
 * @throws {PlatformRateLimited | PlatformUnanswered | GithubRefusal}
 */
export function isOnBranch(
  github: GithubClient,
  place: RepositoryAddress,
  branch: string,
  sha: string,
): Promise<boolean> {
  return github.ask<boolean>(
    async () => {
      const app = await github.at(place, 'app');
      if (!app) return false;
      const repository = ownerAndRepo(place.repository);
      const { data } = await app.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...repository, branch });
      const tip = data.commit.sha;
      if (tip === sha) return true;
      const basehead = `${tip}...${sha}`;
      const path = 'GET /repos/{owner}/{repo}/compare/{basehead}';
      const compared = await app.request(path, { ...repository, basehead, per_page: 1 });
      return compared.data.status === 'behind' || compared.data.status === 'identical';
    },
    ({ status }) => {
      if (status === 404) return false;
      throw new GithubRefusal(
        `GitHub answers ${status} for the branches of ${place.repository}: give the App the permission "Contents: read", and accept it`,
      );
    },
  );
}

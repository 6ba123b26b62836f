import { type GithubClient, ownerAndRepo, type RepositoryAddress } from './github-client.ts';

export type Collaborators = ReturnType<typeof createCollaborators>;

/** `not told`: the credentials may not read roles in the repository. */
type Answered = boolean | 'no credentials' | 'not told';

const KEPT_FOR_MS = 5 * 60_000;
const MOST_KEPT = 1_000;
const MAY_TRIAGE = new Set(['triage', 'write', 'maintain', 'admin']);

/** https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user */
export function createCollaborators(github: GithubClient, clock: () => number) {
  const kept = new Map<string, { is: boolean; at: number }>();

  const ask = (place: RepositoryAddress, login: string) =>
    github.ask<Answered>(
      async () => {
        const authorized = await github.at(place);
        if (!authorized) return 'no credentials';
        const path = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
        const { data } = await authorized.request(path, { ...ownerAndRepo(place.repository), username: login });
        // `permission` says `read` for triage, so the role's name decides. A custom role of the organization has
        // another name; then `permission` shows its base role, unless that is triage.
        return MAY_TRIAGE.has(data.role_name ?? '') || MAY_TRIAGE.has(data.permission);
      },
      () => 'not told',
    );

  return {
    /**
     * Asks whether a person has at least triage permission in the repository. Answers are kept for five minutes.
     * @throws {PlatformRateLimited | PlatformUnanswered}
     */
    async has(place: RepositoryAddress, login: string): Promise<Answered> {
      const name = `${place.repository} ${login}`.toLowerCase();
      const known = kept.get(name);
      if (known && known.at + KEPT_FOR_MS > clock()) return known.is;
      const is = await ask(place, login);
      if (kept.size >= MOST_KEPT) kept.clear();
      if (typeof is === 'boolean') kept.set(name, { is, at: clock() });
      return is;
    },
  };
}

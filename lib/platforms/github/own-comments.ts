import { RequestError } from '@octokit/request-error';
import type { AuthorizedGithub } from './github-client.ts';

/** The author of a comment, as GitHub's REST API shows it. */
interface Authorship {
  user: { id: number | bigint; type?: string } | null;
  performed_via_github_app?: { id: number | bigint } | null | undefined;
}

/** How long a token's owner is cached. Within this time, the token may be replaced by another account's. */
const KEPT_FOR_MS = 3_600_000;

/** https://docs.github.com/en/rest/users/users#get-the-authenticated-user */
export function createOwnComments(clock: () => number) {
  let owner: { id: number | bigint; at: number } | undefined;

  async function ownerOf({ request }: AuthorizedGithub): Promise<number | bigint | undefined> {
    if (owner && owner.at + KEPT_FOR_MS > clock()) return owner.id;
    try {
      const { data } = await request('GET /user');
      owner = { id: data.id, at: clock() };
      return data.id;
    } catch (error) {
      // An installation's token belongs to no person.
      if (error instanceof RequestError && (error.status === 403 || error.status === 404)) return undefined;
      throw error;
    }
  }

  /**
   * Creates a test for comments that were written with these credentials; only those can be the relay's.
   * @returns the test, which is always false if GitHub does not say who owns the token
   */
  return async (credentials: AuthorizedGithub): Promise<(comment: Authorship) => boolean> => {
    const { appId } = credentials;
    // Comments of people who act through the App have its id, too, but their own names.
    if (appId) return ({ user, performed_via_github_app: app }) => user?.type === 'Bot' && String(app?.id) === appId;
    const id = await ownerOf(credentials);
    return ({ user }) => user !== null && user.id === id;
  };
}

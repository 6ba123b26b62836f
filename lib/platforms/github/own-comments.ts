import { RequestError } from '@octokit/request-error';
import type { AuthorizedGithub } from './github-client.ts';

/** The author of a comment, as GitHub's REST API shows it. */
interface Authorship {
  user: { id: number | bigint; type?: string } | null;
  performed_via_github_app?: { id: number | bigint } | null | undefined;
}

/** A token's owner is kept for an hour, in which the token may be replaced by that of another account. */
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
      // The token of an installation belongs to no person.
      if (error instanceof RequestError && (error.status === 403 || error.status === 404)) return undefined;
      throw error;
    }
  }

  /**
   * Finds out which comments were written with these credentials: only those can be the relay's.
   * @returns whether a comment is one; it is always false if GitHub does not say whose the token is
   */
  return async (credentials: AuthorizedGithub): Promise<(comment: Authorship) => boolean> => {
    const { appId } = credentials;
    // People who act through the App have comments with its id too, but under their own names.
    if (appId) return ({ user, performed_via_github_app: app }) => user?.type === 'Bot' && String(app?.id) === appId;
    const id = await ownerOf(credentials);
    return ({ user }) => user !== null && user.id === id;
  };
}

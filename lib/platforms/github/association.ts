/** https://docs.github.com/en/graphql/reference/enums#commentauthorassociation */
const COLLABORATORS = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/** An account as payloads show it; null for a deleted account. */
export type Account = { login: string; type?: string | null | undefined } | null | undefined;

/**
 * True if a payload shows that the author belongs to the repository's people, in any role. False proves nothing:
 * `author_association` hides members who keep their membership private.
 */
export function isShownCollaborator(author: Account, association: string | null | undefined): boolean {
  return Boolean(author) && !isBot(author) && COLLABORATORS.has(association ?? '');
}

/**
 * What the worker has to ask GitHub about an author. An organization's members, and collaborators, may have the role
 * `read`, and only an owner's association shows more than that.
 *
 * @returns undefined for an owner
 */
export function unprovenAuthor(author: Account, association: string | null | undefined) {
  if (!author || isBot(author)) return {};
  if (association === 'OWNER') return undefined;
  return { login: author.login, ...(isShownCollaborator(author, association) && { isShown: true }) };
}

export function isBot(account: Account): boolean {
  return account?.type === 'Bot';
}

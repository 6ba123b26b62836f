/** https://docs.github.com/en/graphql/reference/enums#commentauthorassociation */
const COLLABORATORS = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/** An account as shown in payloads; null for a deleted account. */
export type Account = { login: string; type?: string | null | undefined } | null | undefined;

/**
 * Returns true if a payload shows that the author belongs to the repository, in any role. False proves nothing:
 * `author_association` hides private memberships.
 */
export function isShownCollaborator(author: Account, association: string | null | undefined): boolean {
  return Boolean(author) && !isBot(author) && COLLABORATORS.has(association ?? '');
}

/**
 * Returns the author whose role the worker has to ask GitHub for. An organization's members, and collaborators, may
 * have only the role `read`. The association proves more only for an owner.
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

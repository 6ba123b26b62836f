/** https://docs.github.com/en/graphql/reference/enums#commentauthorassociation */
const COLLABORATORS = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/** An account as payloads show it; null for one that is deleted. */
export type Account = { login: string; type?: string | null | undefined } | null | undefined;

/**
 * Whether a payload shows that the author is one of the repository's own people. Where it does not, they may be one all
 * the same: `author_association` hides members who keep their membership private.
 */
export function isShownCollaborator(author: Account, association: string | null | undefined): boolean {
  return Boolean(author) && !isBot(author) && COLLABORATORS.has(association ?? '');
}

export function isBot(account: Account): boolean {
  return account?.type === 'Bot';
}

/** Fields for the relay's own use: digests, ids that connect records, and facts that the head of the job shows. */
export const INTERNAL_FIELDS = /^(address|by|digest|entity|in|marker|sent|\w*sha)$/i;

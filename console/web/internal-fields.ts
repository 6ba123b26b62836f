/** Fields for the relay alone: digests, ids that connect records, and facts that the head of the job says. */
export const INTERNAL_FIELDS = /^(address|by|digest|entity|in|marker|sent|\w*sha)$/i;

/**
 * The shares of the budget, the first to be served first: `interactive` for a person's first command, `further` for
 * commands that follow within a minute or while the first still waits (lib/people/turns.ts), `background` for other
 * events, and `backfill` for issues from before the relay, which gets only what no other lane wants
 * (docs/decisions/0027-backfill-lane.md).
 */
export const lanes = ['interactive', 'further', 'background', 'backfill'] as const;
export type Lane = (typeof lanes)[number];

export const ofEachLane = <T>(of: (lane: Lane) => T) =>
  Object.fromEntries(lanes.map((lane) => [lane, of(lane)])) as Record<Lane, T>;

/** True if a person is waiting. */
export const isOfPeople = (lane: Lane): boolean => lane === 'interactive' || lane === 'further';

/**
 * A share of the budget, the first to be served first: `interactive` for a person's first command, `further` for those
 * that follow within a minute or while the first still waits (lib/people/turns.ts), `background` for other events, and
 * `backfill` for issues that were there before the relay, which take only what no other lane wants
 * (docs/decisions/0027-backfill-lane.md).
 */
export const lanes = ['interactive', 'further', 'background', 'backfill'] as const;
export type Lane = (typeof lanes)[number];

export const ofEachLane = <T>(of: (lane: Lane) => T) =>
  Object.fromEntries(lanes.map((lane) => [lane, of(lane)])) as Record<Lane, T>;

/** Whether a person is waiting. */
export const isOfPeople = (lane: Lane): boolean => lane === 'interactive' || lane === 'further';

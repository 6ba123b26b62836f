import type { Steps } from '../engine/run/steps.ts';

const confirmed = new WeakSet<Steps>();

/** Notes that GitHub shows, in this run, that the person in the event wrote the command at that time. */
export const confirm = (steps: Steps): unknown => confirmed.add(steps);

/** This holds for one run only: more roles may write to the journal than may act as a person. */
export const isConfirmed = (steps: Steps): boolean => confirmed.has(steps);

/** The number of random histories. */
export const RUNS = 300;
/** A fixed seed, so that a failure can be repeated. `node test/fuzz/start.ts` takes others. */
export const SEED = 20;

/** How many random histories are played. */
export const RUNS = 300;
/** Always the same, so that what fails here fails again. `node test/fuzz/start.ts` takes others. */
export const SEED = 20;

import * as z from 'zod/mini';

// Zod compiles a function for each schema at its first use, which pays after some thousand uses; a function that has
// just been started for one event pays and gains nothing. To be imported before anything that makes a schema.
z.config({ jitless: true });

import * as z from 'zod/mini';

// Zod compiles a function for each schema at its first use, which saves time after some thousand uses. A Lambda that has
// just been started for one event only loses time. Import this before anything that makes a schema.
z.config({ jitless: true });

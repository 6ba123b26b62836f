import * as z from 'zod/mini';

// Turns off zod's compiled schemas. Zod compiles a function for each schema at its first use, which pays off only after
// some thousand uses. A Lambda started for one event loses time. Import this before anything that defines a schema.
z.config({ jitless: true });

/** The schema library for the input fields of an automation: this version's zod, https://zod.dev/packages/mini */
export * from 'zod/mini';

/** What fields of an automation's input are made with: the zod of this version, https://zod.dev/packages/mini */
export * from 'zod/mini';

/** All that a team's automation imports, besides `zod/mini`: docs/guides/your-own-automation.md. */
export { command } from './command.ts';
export { github } from './github.ts';
export { schedule } from './schedule.ts';
export type { Run } from './steps.ts';
export { hmac, token, webhook } from './webhook.ts';

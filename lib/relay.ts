/**
 * Everything that relay.config.ts and a team's automations import, except `partner-relay/zod`:
 * docs/guides/your-own-automation.md.
 */
export { defineConfig } from './config/schema.ts';
export { command } from './triggers/command.ts';
export { github } from './triggers/github.ts';
export { schedule } from './triggers/schedule.ts';
export type { Run } from './triggers/steps.ts';
export { hmac, token, webhook } from './triggers/webhook.ts';

import { measureBudget } from './budget.ts';
import { measureCommandLine } from './command-line.ts';
import type { Part } from './figure.ts';
import { measureNpmStart } from './npm-start.ts';
import { measurePackage } from './package.ts';
import { measureToolCalls } from './tool-calls.ts';
import { measureWebhooks } from './webhooks.ts';

export const parts: readonly Part[] = [
  {
    name: 'webhooks',
    about: 'the webhooks in fresh processes, against Probot, Bolt and a baseline',
    measure: measureWebhooks,
  },
  {
    name: 'npm-start',
    about: 'npm start when idle, under many senders as BullMQ with Redis, and with their backlog (4 minutes)',
    measure: measureNpmStart,
  },
  { name: 'command-line', about: 'partner-relay --help, beside Node alone', measure: measureCommandLine },
  { name: 'package', about: 'installing the package, and starting in a new folder', measure: measurePackage },
  { name: 'tool-calls', about: "tool calls as a person, against the official SDK's client", measure: measureToolCalls },
  { name: 'budget', about: 'ten virtual minutes of work, against rate-limiter-flexible', measure: measureBudget },
];

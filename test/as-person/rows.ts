import type { KillableRelay } from '../kill/killable-relay.ts';
import {
  command,
  createDefect,
  DATE,
  forgetEntries,
  logTime,
  newInSlack,
  type Row,
  slackUser,
  TASK,
} from '../kill/rows.ts';
import { PROJECT } from '../relay.ts';
import { linkAccount, sandboxCommands } from './linked.ts';

/** The person has linked their account, so that the relay calls tools as them. */
const withTool = {
  isTool: true,
  commands: sandboxCommands,
  async prepare(relay: KillableRelay, id: number) {
    newInSlack(relay, id);
    await linkAccount(relay, { in: 'slack', id: slackUser(id) });
  },
} satisfies Partial<Row>;

export const loggedWithTool: Row = {
  ...logTime,
  ...withTool,
  what: 'a command in Slack logs time with a tool',
  async prepare(relay, id) {
    await withTool.prepare(relay, id);
    await forgetEntries(relay);
  },
  operation: 'log_time',
  tells: /Logged 1h30m on/,
  incoming: (id) => command(id, `log 1h30m ${TASK.id} ${DATE} trial ${id} with a tool`),
  readBack: async () => true,
};

/** No list shows what this tool has created, so after a lost answer, the person decides. */
export const defectWithTool: Row = {
  ...createDefect,
  ...withTool,
  what: 'a command in Slack creates a defect with a tool',
  operation: 'report_defect',
  // The tool takes no type.
  looks: ` in ${PROJECT}`,
  incoming: (id) => command(id, `defect trial ${id}`),
};

/** For the tests that every automation must pass. */
export const rows: readonly Row[] = [loggedWithTool, defectWithTool];

import type { RelayConfig, RelayConfigInput } from '../../lib/config/schema.ts';
import { newsOf } from '../../lib/engine/record/job.ts';
import type { SlackMessage } from '../../local/slack/workspace.ts';
import type { Timelog } from '../../sandbox/records.ts';
import { PROJECT, startRelay, type TestRelayOptions } from '../relay.ts';
import { type TeamInput, teamInput, withTeams } from '../timesheets/team.ts';

/** From Monday to Friday. */
export const WEEK = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
const FRIDAY = WEEK[4];
/** 16:30 in Berlin on that Friday, when a team in Berlin gets reminders. */
export const DUE = Date.parse('2026-11-20T16:30:00+01:00');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A user of the service. */
export interface Person {
  userId: string;
  name: string;
  email: string;
}

/** Users of the seed. Three are in Slack, but Lucas is not. */
export const people = {
  mira: seeded('02', 'Mira Novak'),
  tomasz: seeded('03', 'Tomasz Zielinski'),
  aisha: seeded('04', 'Aisha Rahman'),
  lucas: seeded('05', 'Lucas Pereira'),
};

/** Tasks of the seed. */
export const tasks = {
  CHECKOUT: { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01', name: 'Release checkout 2.4' },
  CART: { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e02', name: 'Show delivery dates in the cart' },
  LOGIN: { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03', name: 'Login with passkeys' },
};

function seeded(number: string, name: string): Person {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`;
  return { userId: `b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a${number}`, name, email };
}

/** Settings of a team in Berlin with these three people, unless changed. */
export function timesheets(change: Partial<TeamInput> = {}, rest: Partial<RelayConfigInput> = {}): RelayConfig {
  const { mira, tomasz, aisha } = people;
  return withTeams([{ ...teamInput, people: [mira, tomasz, aisha].map(({ email }) => email), ...change }], rest);
}

let entries = 0;

type LoggedAs = { date?: string; task?: string } & Record<string, unknown>;

export type TeamRelay = Awaited<ReturnType<typeof startFriday>>;

/** Starts at 16:30 on Friday, before anyone has logged time. */
export async function startFriday(config = timesheets(), options: TestRelayOptions = {}) {
  const relay = await startRelay({ ...options, config });
  const { sandbox, slack } = relay;
  relay.clock.now = DUE;
  sandbox.data.timelogs.length = 0;

  /** Adds a time entry to the service, with any value for its hours. */
  function logs({ userId }: Person, hours: unknown, fields: LoggedAs = {}): void {
    const { date = FRIDAY, task = tasks.CHECKOUT.id, ...others } = fields;
    entries += 1;
    const entry = {
      timelog_id: `entry-${entries}`,
      project_id: PROJECT,
      task_id: task,
      user_id: userId,
      date,
      hours,
      note: 'dentist',
      description: '',
      dt_created: `${date} 12:00:00`,
      ...others,
    };
    sandbox.data.timelogs.push(entry as Timelog);
  }

  /** The sent reminders, by the recipient's name. */
  function reminders(): Map<string, SlackMessage[]> {
    const sent = slack.messages.filter(({ kind, userId }) => kind === 'message' && userId !== undefined);
    return Map.groupBy(sent, ({ userId = '' }) => slack.users.get(userId)?.name ?? userId);
  }

  /** A person's only reminder. */
  function reminderOf({ name }: Person): SlackMessage {
    const [message, ...others] = reminders().get(name) ?? [];
    if (!message || others.length > 0) throw new Error(`${name} got ${others.length + (message ? 1 : 0)} reminders`);
    return message;
  }

  return Object.assign(relay, {
    logs,
    reminders,
    reminderOf,
    /** The text of a person's only reminder. */
    reminderTo: (person: Person) => mrkdwnOf(reminderOf(person)),

    /** Logs all expected hours from Monday to Friday. */
    logsWeek(person: Person): void {
      for (const date of WEEK.slice(0, 4)) logs(person, 8, { date });
      logs(person, 6.5);
    },

    /** Adds a person to the service and to Slack. */
    join(name: string): Person {
      const number = sandbox.data.users.length;
      const person = { userId: `user-${number}`, name, email: `user-${number}@example.com` };
      sandbox.data.users.push({ user_id: person.userId, name, email: person.email });
      const id = `U0JOINED${number}`;
      slack.users.set(id, { id, name, email: person.email });
      return person;
    },

    /** The recipients of the reminders, once for each reminder. */
    reminded: () => [...reminders()].flatMap(([name, messages]) => messages.map(() => name)).sort(),

    /** Fires the schedule now, and works until nothing is under way. */
    async remind(): Promise<void> {
      await relay.fire('due-schedules');
      await relay.workToTheEnd();
    },

    /** How the jobs of an automation ended, in alphabetical order. */
    async outcomes(automation: string): Promise<string[]> {
      const jobs = (await relay.jobs()).filter((job) => job.automation === automation);
      return jobs.map((job) => job.outcome ?? `${job.status}: ${newsOf(job)}`).sort();
    },

    /** The number of calls of each operation. */
    calls(): Record<string, number> {
      const counted: Record<string, number> = {};
      for (const { endpoint, reason } of sandbox.audit) {
        if (reason === null) counted[endpoint] = (counted[endpoint] ?? 0) + 1;
      }
      return counted;
    },
  });
}

/** The texts of a message's sections, in mrkdwn. */
export function mrkdwnOf({ blocks = [] }: Pick<SlackMessage, 'blocks'>): string {
  const sections = blocks.filter((block) => block.type === 'section');
  return sections.map(({ text }) => text?.text ?? '').join('\n');
}

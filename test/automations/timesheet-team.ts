import { defineConfig, type RelayConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { newsOf } from '../../lib/engine/record/job.ts';
import type { SlackMessage } from '../../local/slack/workspace.ts';
import type { Timelog } from '../../sandbox/records.ts';
import { startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { type TeamInput, teamInput } from '../timesheets/team.ts';

/** From Monday to Friday. */
export const WEEK = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
const FRIDAY = WEEK[4];
/** Half past four in Berlin on that Friday, when a team in Berlin is reminded. */
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

/** Of the seed: three are in Slack, and Lucas is not. */
export const people = {
  mira: seeded('02', 'Mira Novak'),
  tomasz: seeded('03', 'Tomasz Zielinski'),
  aisha: seeded('04', 'Aisha Rahman'),
  lucas: seeded('05', 'Lucas Pereira'),
};

/** Of the seed. */
export const tasks = {
  CHECKOUT: { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01', name: 'Release checkout 2.4' },
  CART: { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e02', name: 'Show delivery dates in the cart' },
  LOGIN: { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03', name: 'Login with passkeys' },
};

function seeded(number: string, name: string): Person {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`;
  return { userId: `b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a${number}`, name, email };
}

/** Settings of a team in Berlin with the three, unless it is said otherwise. */
export function timesheets(change: Partial<TeamInput> = {}, rest: Partial<RelayConfigInput> = {}): RelayConfig {
  const { mira, tomasz, aisha } = people;
  return withTeams([{ ...teamInput, people: [mira, tomasz, aisha].map(({ email }) => email), ...change }], rest);
}

export function withTeams(teams: TeamInput[], rest: Partial<RelayConfigInput> = {}): RelayConfig {
  return defineConfig({
    connections: { main: {} },
    slack: { connection: 'main' },
    timesheets: { teams },
    ...rest,
  });
}

/** At 16:30 on Friday, when no one has logged anything. */
export async function startFriday(config = timesheets(), options: TestRelayOptions = {}): Promise<TestRelay> {
  const relay = await startRelay({ ...options, config });
  relay.clock.now = DUE;
  relay.sandbox.data.timelogs.length = 0;
  return relay;
}

let entries = 0;

/** Puts a time entry into the service, as it stands there. */
export function log(
  { sandbox }: TestRelay,
  { userId }: Person,
  hours: unknown,
  {
    date = FRIDAY,
    task = tasks.CHECKOUT.id,
    ...fields
  }: { date?: string; task?: string } & Record<string, unknown> = {},
): void {
  entries += 1;
  const entry = {
    timelog_id: `entry-${entries}`,
    project_id: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01',
    task_id: task,
    user_id: userId,
    date,
    hours,
    note: 'dentist',
    description: '',
    dt_created: `${date} 12:00:00`,
    ...fields,
  };
  sandbox.data.timelogs.push(entry as Timelog);
}

/** Logs all that is expected from Monday to Friday. */
export function logWeek(relay: TestRelay, person: Person): void {
  for (const date of WEEK.slice(0, 4)) log(relay, person, 8, { date });
  log(relay, person, 6.5);
}

/** A new person, in the service and in Slack. */
export function join({ sandbox, slack }: TestRelay, name: string): Person {
  const number = sandbox.data.users.length;
  const person = { userId: `user-${number}`, name, email: `user-${number}@example.com` };
  sandbox.data.users.push({ user_id: person.userId, name, email: person.email });
  const id = `U0JOINED${number}`;
  slack.users.set(id, { id, name, email: person.email });
  return person;
}

/** The reminders that went out, by the names of those who got them. */
export function reminders({ slack }: TestRelay): Map<string, SlackMessage[]> {
  const byName = new Map<string, SlackMessage[]>();
  for (const message of slack.messages) {
    if (message.kind !== 'message' || message.userId === undefined) continue;
    const name = slack.users.get(message.userId)?.name ?? message.userId;
    byName.set(name, [...(byName.get(name) ?? []), message]);
  }
  return byName;
}

/** Whom the reminders went to, each as often as there were some. */
export function reminded(relay: TestRelay): string[] {
  return [...reminders(relay)].flatMap(([name, messages]) => messages.map(() => name)).sort();
}

/** What the sections of a message say, in mrkdwn. */
export function mrkdwnOf({ blocks = [] }: Pick<SlackMessage, 'blocks'>): string {
  const sections = blocks.filter((block) => block.type === 'section');
  return sections.map(({ text }) => text?.text ?? '').join('\n');
}

/** The text of a person's only reminder. */
export function reminderOf(relay: TestRelay, { name }: Person): string {
  const [message, ...others] = reminders(relay).get(name) ?? [];
  if (!message || others.length > 0) throw new Error(`${name} got ${others.length + (message ? 1 : 0)} reminders`);
  return mrkdwnOf(message);
}

/** Fires the schedule now, and works until nothing is under way. */
export async function remind(relay: TestRelay): Promise<void> {
  await relay.fire('due-schedules');
  await relay.workToTheEnd();
}

/** What became of the jobs of an automation, in alphabetical order. */
export async function outcomes(relay: TestRelay, automation: string): Promise<string[]> {
  const jobs = (await relay.jobs()).filter((job) => job.automation === automation);
  return jobs.map((job) => job.outcome ?? `${job.status}: ${newsOf(job)}`).sort();
}

/** How often each operation was carried out. */
export function calls({ sandbox }: TestRelay): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const { endpoint, reason } of sandbox.audit) {
    if (reason === null) counted[endpoint] = (counted[endpoint] ?? 0) + 1;
  }
  return counted;
}

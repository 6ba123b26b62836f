import type { Job } from '../../lib/jobs/job.ts';
import { keys } from '../../lib/table/keys.ts';
import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig } from '../relay.ts';
import { type Answering, allAnswerings } from './creation-faults.ts';
import {
  type KillableRelay,
  type Recovery,
  type Stop,
  startKillableRelay,
  type TrialResult,
} from './killable-relay.ts';
import { rule, type Standing } from './referee.ts';

type Deliveries = Parameters<KillableRelay['try']>[0]['deliveries'];

/** What an automation is tried with. A new automation is a row more. */
export interface Row {
  automation: string;
  what: string;
  deliveries(id: number): Deliveries;
  /** What the service has now of what the deliveries are about. */
  made(relay: KillableRelay, id: number): readonly { title: string }[];
  replies(relay: KillableRelay, id: number): number;
  /** What it must look like in the end. */
  lastTitle: string;
  /** Where a reply may come too late to be made. */
  mayGoWithoutReply?: boolean;
}

const issues = (...payloads: object[]): Deliveries => payloads.map((payload) => ({ event: 'issues', payload }));
const REPOSITORY = 'Codertocat/Hello-World';
const OTHER_REPOSITORY = 'Codertocat/Elsewhere';
/** Of an issue that was transferred. */
const NEW_ID = 500_000;

/** An issue's defects, also after it was transferred. */
const issueToDefect: Pick<Row, 'automation' | 'made' | 'replies'> = {
  automation: 'issue-to-defect',
  made: ({ sandbox }, id) =>
    sandbox.data.defects.filter(({ description }) =>
      [`${REPOSITORY}/issues/${id}\n`, `${OTHER_REPOSITORY}/issues/${NEW_ID + id}\n`].some((url) =>
        description.includes(`https://github.com/${url}`),
      ),
    ),
  replies: ({ github }, id) =>
    github.comments.filter(({ issue }) => [`${REPOSITORY}#${id}`, `${OTHER_REPOSITORY}#${NEW_ID + id}`].includes(issue))
      .length,
};

export const opened: Row = {
  ...issueToDefect,
  what: 'an issue is opened',
  deliveries: (id) => issues(issueEvent('opened', { id, title: 'opened' })),
  lastTitle: 'opened',
};

export const edited: Row = {
  ...issueToDefect,
  what: 'an issue is opened, then edited',
  deliveries: (id) =>
    issues(issueEvent('opened', { id, title: 'opened' }), issueEvent('edited', { id, seconds: 1, title: 'edited' })),
  lastTitle: 'edited',
};

export const transferred: Row = {
  ...issueToDefect,
  what: 'an issue is opened, then transferred',
  deliveries: (id) => {
    const there = issueEvent('opened', { id: NEW_ID + id, seconds: 2, repository: OTHER_REPOSITORY, title: 'moved' });
    const here = issueEvent('opened', { id, title: 'opened' });
    return issues(
      here,
      {
        ...issueEvent('transferred', { id, seconds: 1, title: 'opened' }),
        changes: { new_issue: there.issue, new_repository: there.repository },
      },
      { ...there, changes: { old_issue: here.issue, old_repository: here.repository } },
    );
  },
  lastTitle: 'moved',
  // Whoever takes over from a killed host may find the issue gone from where the comment was to be.
  mayGoWithoutReply: true,
};

/** Other answers to a resend. */
const refused: readonly Answering[] = [
  '401 invalid signature',
  '401 timestamp',
  '401 nonce',
  '401 key',
  '401 in other words',
  '403',
  '404',
  '422',
  '429',
];

/** What happens to the first sends of a creation: nothing, or one is lost, or one is lost and the next is refused. */
export const faults: readonly (readonly Answering[])[] = [
  ['as it is'],
  ['answer lost after the work'],
  ['500 before the work'],
  ['500 after the work'],
  ['cut on arrival'],
  ['answer slower than the time-out'],
  ['arrival slower than the time-out'],
  ...refused.map((answer) => ['answer lost after the work', answer] as const),
];

/** Every answer to a first send, and every refusal of the next after the ways to lose the first that differ most. */
export const everyFault: readonly (readonly Answering[])[] = [
  ...allAnswerings.map((one) => [one]),
  ...(
    ['answer lost after the work', '500 before the work', 'cut on arrival', 'arrival slower than the time-out'] as const
  ).flatMap((one) => refused.map((answer) => [one, answer])),
];

export const recoveries: readonly Recovery[] = [
  { sweeps: 'last', redelivers: 'at once' },
  { sweeps: 'last', redelivers: 'late' },
  { sweeps: 'always', redelivers: 'late' },
  { sweeps: 'last', redelivers: 'at once' },
  { sweeps: 'always', redelivers: 'at once' },
];

/** What a number of trials came to. */
export class Tally {
  points = 0;
  trials = 0;
  succeeded = 0;
  readonly violations: string[] = [];
  readonly #parked = new Map<string, number>();

  add(parked: readonly string[]): void {
    this.trials += 1;
    if (parked.length === 0) this.succeeded += 1;
    for (const why of new Set(parked)) this.#parked.set(why, (this.#parked.get(why) ?? 0) + 1);
  }

  toString(): string {
    const parked = [...this.#parked].map(([why, times]) => `${times} ${why}`).join(', ') || 'none';
    return `${this.trials} trials at ${this.points} points: ${this.succeeded} succeeded; parked: ${parked}`;
  }
}

export interface TrialChoice {
  row: Row;
  answers: readonly Answering[];
  stops?: readonly Stop[];
  comesBack?: boolean;
  recovery?: Recovery | undefined;
}

/** Tries one choice after the other on a relay and a sandbox of its own; each is of an issue of its own. */
export async function startTrials(sandboxOptions: SandboxOptions, tally: Tally) {
  const unlimited = { limits: { perMinute: 1_000_000, perDay: 1_000_000 } };
  const config = (apiUrl: string) => exampleConfig({}, { apiUrl, connection: unlimited, also: [OTHER_REPOSITORY] });
  const relay = await startKillableRelay(config, sandboxOptions);
  let id = 0;
  return {
    /** @returns the side effects that the relay had */
    async try(choice: TrialChoice): Promise<readonly string[]> {
      id += 1;
      const { row, ...rest } = choice;
      const result = await relay.try({ ...rest, deliveries: row.deliveries(id) });
      const { violations, parked } = await judge(relay, choice, id, result);
      tally.add(parked);
      const stops = (choice.stops ?? []).map(({ at, when }) => `${when} ${at}: ${result.effects[at]}`);
      const { nonceMoment = 'default', checkOrder = ['default'] } = sandboxOptions;
      const about = `${row.what}; ${choice.answers.join(', ')}; ${stops.join(', ')}; ${JSON.stringify(choice.recovery)}; ${checkOrder.join(' ')}; ${nonceMoment}`;
      tally.violations.push(...violations.map((violation) => `${violation} [${about}]`));
      return result.effects;
    },
    close: () => relay.close(),
  };
}

/** Every side effect, before and after. */
export function stopsAt(effects: readonly string[]): Stop[] {
  return effects.flatMap((_, at) => (['before', 'after'] as const).map((when) => ({ at, when })));
}

/** Holds a trial against the promises, and its parked jobs against docs/exactly-once.md. */
async function judge(
  relay: KillableRelay,
  { row, answers, stops = [], comesBack = false }: TrialChoice,
  id: number,
  { happenings, effects, stops: stopped, jobs, logged }: TrialResult,
): Promise<{ violations: string[]; parked: string[] }> {
  const made = row.made(relay, id);
  const replies = row.replies(relay, id);
  const { breaches, standings } = await rule(happenings);
  const violations = [...breaches];
  const check = (holds: boolean, violation: string) => void (holds || violations.push(violation));
  const parkedJobs = jobs.filter((job) => job.status === 'parked');
  const late = answers.includes('arrival slower than the time-out');

  check(stopped === stops.length || stops.some(({ at }) => at >= effects.length), `${stopped} hosts stopped`);
  const bugs = logged.map((line) => JSON.stringify(line)).filter((line) => line.includes('nobody foresaw'));
  check(bugs.length === 0, `a bug: ${bugs}`);
  check(jobs.length === row.deliveries(id).length, `${jobs.length} jobs`);
  check(made.length <= 1, `${made.length} were made`);
  // GitHub has no nonce: a host that went on with a comment after others took over makes it a second time.
  check(replies <= 1 || (comesBack && replies <= 2), `${replies} replies`);
  for (const job of jobs) {
    check(job.status === 'succeeded' || job.status === 'parked', `a job is ${job.status}`);
    if (job.status === 'parked')
      check(isListed(job, standings.get(keys.job(job.id).pk)), `parked against the document: ${told(job)}`);
  }
  if (parkedJobs.length === 0) {
    check(made.length === 1, `succeeded with ${made.length} made`);
    check(made[0]?.title === row.lastTitle, `looks like '${made[0]?.title}'`);
    check(replies >= 1 || row.mayGoWithoutReply === true, 'no reply');
  }
  const unknown = parkedJobs.some((job) => job.parked?.outcomeUnknown);
  check(!unknown || made.length === 0 || late, `parked as unknown, but it is there: ${parkedJobs.map(told)}`);
  return {
    violations,
    parked: parkedJobs.map((job) => (job.parked?.outcomeUnknown ? 'outcome unknown' : 'clearly refused')),
  };
}

/** Whether docs/exactly-once.md lists this end: its cases 1 and 2, for no trial fails eight times or lacks permission. */
function isListed(job: Job, { unanswered, decision }: Partial<Standing> = {}): boolean {
  const { reason = '', outcomeUnknown = false } = job.parked ?? {};
  if (outcomeUnknown) return unanswered === true && /was sent and never clearly answered/.test(reason);
  return !unanswered && decision === 'park' && /refused with status (400|403|404|422)/.test(reason);
}

function told({ parked }: Job): string {
  return `${parked?.reason} (${parked?.outcomeUnknown ? 'outcome unknown' : 'refused'})`;
}

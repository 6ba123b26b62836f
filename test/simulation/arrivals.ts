import { checklistItemJobs } from '../../lib/automations/complete-checklist-item/jobs.ts';
import type { QueueName } from '../../lib/config/queues.ts';
import { jobId } from '../../lib/engine/record/job.ts';
import { functionsOf } from '../../local/world/functions.ts';
import { channelOf, doneCommand, openedIssue, type Sender } from './events.ts';
import { noteAwsMetric, noteError, startProcess, type World } from './world.ts';

/** An event: `background` is a new issue in GitHub, `interactive` a person's command in Slack. */
export interface Arrival {
  connection: string;
  lane: QueueName;
  /** The person who gives the command; by default one of many. */
  person?: string;
  /** The number of calls of the command, in turn; 1 by default. */
  calls?: number;
  /** The time since the start. */
  atMs: number;
  /** The issue's labels. Without any, its job makes no call. */
  labels?: string[];
  from?: Sender;
}

/** By job id: when the job's event came (virtual time), its lane, and the person who asked for it. */
export type Wanted = Map<string, { lane: QueueName; at: number; person?: string }>;

/** The number of people. Each command is given only once. */
const PEOPLE = 50;

/** Delivers every event to its webhook at its time; simultaneous events in parallel. @returns the jobs so far */
export function bring(arrivals: readonly Arrival[], world: World): Wanted {
  const { time } = world;
  const start = time.now;
  const wanted: Wanted = new Map();
  const [github, slack] = [startProcess(world).runtime, startProcess(world).runtime];
  const { takeGithub, takeSlack } = functionsOf((slug) => (slug === 'github-webhook' ? github : slack));

  function noteAnswer(slug: string, status = 0): void {
    if (status >= 400) noteAwsMetric(world, 'Lambda', `Url${Math.floor(status / 100)}xxCount`, 1, slug);
  }

  async function openIssue(number: number, arrival: Arrival): Promise<void> {
    const at = time.now;
    const { statusCode, body } = await takeGithub(openedIssue(arrival.connection, number, at, arrival));
    noteAnswer('github-webhook', statusCode);
    if (arrival.from === 'forger') return;
    if (statusCode !== 202) throw new Error(`the GitHub webhook answered ${statusCode}: ${body}`);
    const { jobs } = JSON.parse(body ?? '') as { jobs: string[] };
    for (const id of jobs) wanted.set(id, { lane: 'background', at });
  }

  async function giveCommand(
    number: number,
    { connection, calls = 1, person = `U0P${number % PEOPLE}`, from }: Arrival,
  ): Promise<void> {
    const { slack } = world.slack;
    if (!slack.users.has(person)) slack.users.set(person, { id: person, name: person });
    const triggerId = slack.makeTriggerId(person);
    const responseUrl = slack.makeResponseUrl({ userId: person, channelId: channelOf(connection) });
    const items = Array.from({ length: calls }, (_, index) => 10 * number + index);
    world.service.addItems(connection, items);
    const isForged = from === 'forger';
    const command = { userId: person, items, triggerId, responseUrl, isForged };
    if (!isForged) wanted.set(jobId(checklistItemJobs.name, triggerId), { lane: 'interactive', at: time.now, person });
    const { statusCode, body } = await takeSlack(doneCommand(connection, command, time.now));
    noteAnswer('slack-webhook', statusCode);
    if (isForged) return;
    if (statusCode !== 200) throw new Error(`the Slack webhook answered ${statusCode}: ${body}`);
  }

  async function comeInOrder(): Promise<void> {
    for (const [index, arrival] of arrivals.toSorted((a, b) => a.atMs - b.atMs).entries()) {
      const { lane, atMs } = arrival;
      if (start + atMs > time.now) await time.sleep(start + atMs - time.now);
      const number = index + 1;
      const come = lane === 'background' ? openIssue(number, arrival) : giveCommand(number, arrival);
      void come.catch((error) => noteError(world, error));
    }
  }

  void comeInOrder();
  return wanted;
}

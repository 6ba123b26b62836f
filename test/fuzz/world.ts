import { randomUUID } from 'node:crypto';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Job, type JobStatus, newsOf } from '../../lib/engine/record/job.ts';
import type { Stores } from '../../lib/runtime.ts';
import type { Item } from '../../lib/state/table/table.ts';
import type { FifoQueue, ReceivedMessage } from '../../local/fifo-queue.ts';
import { withSlackAt } from '../../local/local-slack.ts';
import type { Attributes } from '../../local/world/expressions.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { APP } from '../github-identity.ts';
import { type Host, Hosts } from '../hosts.ts';
import { customOf, exampleConfig, withLimits } from '../relay.ts';
import { githubDelivery, SIGNING_SECRET, WEBHOOK_SECRET } from '../requests.ts';
import { VirtualClock } from './clock.ts';
import { type Delivery, Github, REPOSITORIES, WORKFLOWS } from './github.ts';
import { AWS_FAILED, befallenBy, type Process, type State, type Trouble } from './process.ts';
import { type Limits, SERVICE_URL, Service } from './service.ts';
import { BOT_TOKEN, MIRA, Slack, type Typed } from './slack.ts';
import { files, hookRequest, hooks, Team } from './team.ts';

const MINUTE_MS = 60_000;
/** Over several days, jobs that wait for the day's calls may ask for one every five minutes. */
const MOST_TURNS = 10_000;
const REPLY_TIMEOUT_MS = 20_000;
const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting'];

const tests = {
  workflows: [...WORKFLOWS],
  artifacts: ['junit'],
  branches: ['master'],
  status: { passed: 'passed', failed: 'failed' },
};
const config = exampleConfig({ comment: false }, { also: [REPOSITORIES[1]], checkPullRequest: {}, tests });
const custom = customOf(files, config);

/** The errors of the hosts' clocks. */
const CLOCK_ERRORS_MS = [0, 400, -400];

/** The relay on its hosts, with the service, GitHub and Slack in memory, which answer at once. */
export class World {
  readonly clock: VirtualClock;
  readonly github: Github;
  readonly service: Service;
  readonly slack: Slack;
  readonly team: Team;
  /** Log lines that show a bug. */
  readonly bugs: string[] = [];
  readonly #hosts: Hosts;
  /** All received messages. */
  readonly #received: { queue: FifoQueue; body: string }[] = [];
  /** Items that {@link items} has already parsed. Each write creates a new object. */
  readonly #read = new WeakMap<Attributes, Item>();
  /** Index writes that lag behind the table. */
  readonly #lagging: (() => void)[];

  static async start(limits: Limits): Promise<World> {
    const clock = new VirtualClock(Date.parse('2026-11-20T10:00:00Z'));
    const outside = { clock, github: new Github(clock), slack: new Slack(clock), service: new Service(clock, limits) };
    const { perMinute, perDay } = limits;
    const lagging: (() => void)[] = [];
    const hosts = new Hosts({
      clock,
      config: withLimits(withSlackAt({ standIn: outside.slack.standIn.slack }, config), { perMinute, perDay }),
      custom,
      secrets: {
        'github-webhook': { webhookSecret: WEBHOOK_SECRET },
        github: { token: 'ghp_test', ...APP },
        slack: { signingSecret: SIGNING_SECRET, botToken: BOT_TOKEN },
        'partner/main': { baseUrl: SERVICE_URL, ...defaultKey },
        hooks,
        grants: { key: 'a key of the tests, long enough for it' },
        markers: { key: 'another key of the tests, long enough' },
        intake: { key: 'one more key of the tests, long enough' },
      },
      losesOneIn: 7,
      propagate: (_key, apply) => lagging.push(apply),
      clockErrorsMs: CLOCK_ERRORS_MS,
      fetch: (url, init, pass) => {
        const sentAt = clock.now;
        return pass(() => fetchOutside(url, init, sentAt, outside));
      },
      logged(line) {
        const text = JSON.stringify(line);
        if (text.includes('failed unexpectedly') && !text.includes(AWS_FAILED)) world.bugs.push(text);
      },
    });
    const world = new World(outside, hosts, lagging);
    return world;
  }

  private constructor({ clock, github, service, slack }: Outside, hosts: Hosts, lagging: (() => void)[]) {
    this.clock = clock;
    this.github = github;
    this.service = service;
    this.team = new Team(clock);
    this.slack = slack;
    this.#hosts = hosts;
    this.#lagging = lagging;
  }

  close(): void {
    void this.#hosts.stack.close();
  }

  /** For the test's own reads, which have no troubles. */
  get stores(): Stores {
    return this.#hosts.stores;
  }

  /** All deliveries so far, including held ones. */
  get deliveries(): readonly Delivery[] {
    return [...this.github.deliveries, ...this.team.deliveries];
  }

  get stalled(): readonly Process[] {
    return this.#hosts.stalled;
  }

  /** All items of the table. */
  items(): Item[] {
    return [...this.#hosts.stack.table.items()].map((attributes) => {
      const item = this.#read.get(attributes) ?? unmarshall(attributes);
      this.#read.set(attributes, item);
      return item;
    });
  }

  jobs(): Job[] {
    return this.items().flatMap((item) => (item.sk === 'job' ? [item as Item & Job] : []));
  }

  /** Completes the writes of the indexes. */
  catchUp(): void {
    for (const apply of this.#lagging.splice(0)) apply();
  }

  async pass(ms: number): Promise<void> {
    this.catchUp();
    await this.clock.pass(ms);
  }

  /** Runs something on an idle host. The caller handles its errors. */
  run(troubles: readonly Trouble[], act: (host: Host) => Promise<unknown>): Promise<State> {
    return this.#hosts.run(befallenBy(troubles), async (host) => {
      await act(host).catch((error: unknown) => {
        const isMistake = [TypeError, RangeError, ReferenceError].some((type) => error instanceof type);
        if (isMistake) this.bugs.push(String((error as Error).stack));
      });
    });
  }

  resume(place: number): Promise<void> {
    return this.#hosts.resume(place);
  }

  post(delivery: Delivery, troubles: readonly Trouble[] = []): Promise<State> {
    delivery.wasSent = true;
    return this.run(troubles, async (host) => {
      const { event, payload } = delivery;
      const { statusCode } = await host.take(
        event === 'alert' || event === 'incident' ? hookRequest(event, payload) : githubDelivery(event, payload),
      );
      if (statusCode === 200 || statusCode === 202) delivery.isAccepted = true;
    });
  }

  command(typed: Typed, troubles: readonly Trouble[] = []): Promise<State> {
    const posted = this.slack.posted(typed);
    return this.run(troubles, async (host) => {
      const { body = '' } = await host.take(posted);
      if (body.includes('Working on it')) typed.isAccepted = true;
    });
  }

  /** A person presses a button of one of the last questions. */
  async press(which: number, choice: number, isAsked: boolean, troubles: readonly Trouble[] = []): Promise<void> {
    const questions = this.slack.questions();
    const question = questions.at(-1 - (which % questions.length));
    if (!question) return;
    const { job, posted, ...press } = this.slack.presses(question, choice, isAsked ? MIRA : 'U0TOMASZ1');
    this.team.notePress(job, { ...press, isAsked, at: this.clock.now });
    await this.run(troubles, (host) => host.take(posted));
  }

  /** Delivers the next message of a queue. @returns false if there is none */
  async work(lane: number, troubles: readonly Trouble[] = []): Promise<boolean> {
    const { queues } = this.#hosts.stack;
    for (const queue of lane === 0 ? queues : queues.toReversed()) {
      const message = queue.receive();
      if (!message) continue;
      this.#received.push({ queue, body: message.body });
      await this.run(troubles, (host) => host.deliver(queue, message));
      return true;
    }
    return false;
  }

  /** Delivers a message again. */
  async redrive(place: number): Promise<void> {
    const { queue, body } = this.#received.at(place % this.#received.length) ?? {};
    if (!queue || body === undefined) return;
    const about = { messageId: randomUUID(), receiptHandle: '', receiveCount: 2, sentAt: this.clock.now };
    const message: ReceivedMessage = { ...about, body };
    await this.run([], (host) => host.deliver({ name: queue.name, delete() {} }, message));
  }

  sweep(troubles: readonly Trouble[] = []): Promise<State> {
    return this.run(troubles, (host) => host.sweep());
  }

  /** The clock fires due schedules. */
  async tick(troubles: readonly Trouble[] = []): Promise<void> {
    const at = this.team.tick();
    await this.run(troubles, async (host) => {
      await host.tick(at);
      this.team.noteTick(at);
    });
  }

  /** Works, moves the clock to the next moment, sweeps, and so on, until no job is under way. */
  async workToTheEnd(untilParked = false): Promise<void> {
    for (let turn = 0; ; turn++) {
      while (await this.work(0));
      this.catchUp();
      if (untilParked && this.jobs().some(({ status }) => status === 'parked')) return;
      const underWay = this.jobs().filter(({ status }) => UNDER_WAY.includes(status));
      if (underWay.length === 0 && !this.clock.hasMore) return;
      if (turn > MOST_TURNS) throw new Error(`${underWay[0]?.id} never ends: ${underWay[0] && newsOf(underWay[0])}`);
      await this.pass(this.#untilNext(underWay));
      await this.sweep();
    }
  }

  /** The time until a message wakes or the sweep finds work, at most an hour. */
  #untilNext(underWay: readonly Job[]): number {
    const moments = [
      ...this.#hosts.stack.queues.map((queue) => queue.nextWakeAt()),
      ...underWay.map(({ line, wakeAt, expectedAt = 0 }) => (line === undefined ? wakeAt : expectedAt - MINUTE_MS)),
    ].filter((at) => at > this.clock.now);
    const next = moments.length > 0 ? Math.min(...moments) : this.clock.now + MINUTE_MS;
    // The hosts' clocks may be behind.
    return Math.min(next + 500 - this.clock.now, 60 * MINUTE_MS);
  }
}

type Outside = Pick<World, 'clock' | 'github' | 'service' | 'slack'>;

async function fetchOutside(url: URL, init: RequestInit, sentAt: number, outside: Outside): Promise<Response> {
  const { clock, github, service, slack } = outside;
  if (url.origin === SERVICE_URL) return service.fetch(url, init, sentAt);
  // The clients of GitHub and Slack give up a request that a stalled process could not send in time.
  if (clock.now > sentAt + REPLY_TIMEOUT_MS) throw new DOMException('no answer', 'TimeoutError');
  return (url.hostname === 'api.github.com' ? github : slack).standIn.fetch(url, init);
}

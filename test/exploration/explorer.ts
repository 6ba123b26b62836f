import { resolveJob } from '../../lib/jobs/resolve.ts';
import { requeueJob } from '../../lib/jobs/sweep.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, type TestClock } from '../relay.ts';
import { after, begun, type Case, type Delay, type Happening } from './cases.ts';
import { createWorld, type World } from './world.ts';

const HERE = 'Codertocat/Hello-World';
const THERE = 'Codertocat/Other';
const DAY_MS = 86_400_000;
const CREATE = '/defects/create';

/** How the changes of an issue are told apart. */
export type Spacing = 'seconds apart' | 'one second, GitHub can be asked' | 'one second, nobody can be asked';

/** The issue as GitHub has it. */
interface Truth {
  issue: typeof begun;
  title: string;
  /** Epoch milliseconds. */
  updatedAt: number;
}

/** Runs cases one after the other, each with a table of its own, against one sandbox. */
export interface Explorer {
  /** @returns what does not hold; undefined where the case is another one: its first job is not delayed as it says */
  run(one: Case, spacing?: Spacing): Promise<string[] | undefined>;
  close(): Promise<void>;
}

export async function startExplorer(): Promise<Explorer> {
  const clock: TestClock = { now: Date.parse('2026-11-20T10:00:00Z') };
  const sandbox = await startSandbox({ clock: () => clock.now, rateLimit: { perMinute: 1e9, perDay: 1e9 } });
  const seeded = sandbox.data.defects.length;
  const connection = { limits: { perMinute: 1_000, perDay: 100_000 } };
  const config = exampleConfig({ comment: false }, { connection, also: [THERE], apiUrl: 'http://github.test' });
  const world = await createWorld(config, sandbox, clock);

  return {
    async run(one, spacing = 'seconds apart') {
      // Limits, nonces and outages of the case before are over.
      clock.now += 40 * DAY_MS;
      sandbox.clearFaults();
      sandbox.data.defects.length = seeded;
      const github = new Github(spacing, clock);
      const ask = spacing === 'one second, GitHub can be asked' ? github.fetch : undefined;
      world.begin(ask);
      if (!(await happen(one, github, world, sandbox, clock))) return undefined;
      sandbox.clearFaults();
      await world.workToTheEnd();
      const wrong = () => judge(github.truth, spacing, world, sandbox, seeded);
      const before = await wrong();
      const parked = await world.jobs('parked');
      if (before.length > 0 && parked.length === 0) return before;
      await decide(world, sandbox, clock);
      return wrong();
    },
    async close() {
      world.close();
      await sandbox.close();
    },
  };
}

/**
 * Runs all the cases, and prints how many there are and how long they take.
 * @returns what does not hold, by its case
 */
export async function explore(what: string, cases: readonly Case[], spacing?: Spacing): Promise<string[]> {
  const explorer = await startExplorer();
  const startedAt = Date.now();
  const wrong: string[] = [];
  let same = 0;
  for (const one of cases) {
    const found = await explorer.run(one, spacing).catch((error: unknown) => [String(error)]);
    if (!found) same += 1;
    else if (found.length > 0) wrong.push(`${JSON.stringify(one)}: ${found.join(', ')}`);
  }
  await explorer.close();
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(`Explored ${cases.length - same} cases in ${seconds} s: ${what}; ${same} more are the same as others.`);
  return wrong;
}

/** What there is on GitHub, and the deliveries of it. */
class Github {
  truth: Truth;
  readonly #spacing: Spacing;
  readonly #clock: TestClock;
  readonly #begunAt: number;
  #changes = 0;
  #deliveries: object[][] = [];

  constructor(spacing: Spacing, clock: TestClock) {
    this.#spacing = spacing;
    this.#clock = clock;
    this.#begunAt = clock.now;
    this.truth = { issue: begun, title: 'title 0', updatedAt: clock.now };
  }

  /** @returns what is delivered of it */
  happens(what: Happening): object[] {
    const [first] = this.#deliveries;
    const deliveries = this.#deliver(what, first);
    this.#deliveries.push(deliveries);
    return deliveries;
  }

  #deliver(what: Happening, first: object[] | undefined): object[] {
    if (what === 'the same again') return this.#deliveries.at(-1) ?? [];
    if (what === 'opened' && first) {
      return [issueEvent('opened', { from: this.#begunAt, labels: [], title: 'title 0' })];
    }
    const old = this.#issue();
    this.#changes += 1;
    this.truth = {
      issue: after(what, this.truth.issue, !first),
      title: what === 'edited' ? `title ${this.#changes}` : this.truth.title,
      updatedAt: this.#moment(),
    };
    if (what !== 'transferred') return [this.#event(what)];
    const there = this.#event('opened');
    const { issue } = there;
    return [
      { ...issueEvent('transferred', old), changes: { new_issue: issue, new_repository: { full_name: THERE } } },
      { ...there, changes: { old_issue: { id: 9_001, number: 1 }, old_repository: { full_name: HERE } } },
    ];
  }

  /** When a change happens that comes after the last one. */
  #moment(): number {
    const { updatedAt } = this.truth;
    const { now } = this.#clock;
    if (this.#spacing === 'seconds apart') return Math.max(now, updatedAt + 1_000);
    return now - updatedAt < DAY_MS ? updatedAt : now;
  }

  #issue() {
    const { issue, title, updatedAt } = this.truth;
    return {
      id: issue.isTransferred ? 2 : 1,
      repository: issue.isTransferred ? THERE : HERE,
      from: updatedAt,
      labels: issue.isBug ? ['bug'] : [],
      state: issue.isClosed ? 'closed' : 'open',
      title,
    };
  }

  #event(action: string) {
    return issueEvent(action, this.#issue());
  }

  readonly fetch: typeof globalThis.fetch = async () => Response.json(this.#event('read').issue);
}

/** @returns whether the first job was delayed as the case says */
async function happen(
  { events, delay, fault }: Case,
  github: Github,
  world: World,
  sandbox: Sandbox,
  clock: TestClock,
): Promise<boolean> {
  const [first, ...later] = events;
  const deliver = async (what: Happening) => {
    for (const delivery of github.happens(what)) {
      await world.post(delivery);
      clock.now += 1;
    }
  };
  const at = (stage: string) => later.filter((event) => event.stage === stage);

  if (first) await deliver(first.what);
  for (const { what } of at('before')) await deliver(what);
  if (fault && !delay) sandbox.setFault(fault);
  if (delay) {
    const isSo = await disturbances[delay](world, sandbox);
    if (!isSo) return false;
    for (const { what } of at('delayed')) {
      await deliver(what);
      await world.work();
    }
    sandbox.clearFaults();
    if (fault) sandbox.setFault(fault);
  }
  await world.workToTheEnd();
  for (const { what } of at('ended')) {
    await deliver(what);
    await world.workToTheEnd();
  }
  if (at('expired').length > 0) clock.now += 31 * DAY_MS;
  for (const { what } of at('expired')) {
    await deliver(what);
    await world.workToTheEnd();
  }
  return true;
}

/** Each makes the first job come to that point. @returns whether it did */
const disturbances: Readonly<Record<Delay, (world: World, sandbox: Sandbox) => Promise<boolean>>> = {
  async waiting(world, sandbox) {
    sandbox.setFault({ kind: 'rate-limited', operation: CREATE, times: 1, retryAfterSeconds: 900 });
    await world.work();
    return (await world.jobs('waiting')).length > 0;
  },
  async 'request open'(world, sandbox) {
    sandbox.setFault({ kind: 'cut', when: 'after work', operation: CREATE, times: 1 });
    sandbox.setFault({ kind: 'maintenance', skip: 1 });
    await world.work();
    return (await world.jobs('waiting')).length > 0;
  },
  async 'parked by 403'(world, sandbox) {
    const [key] = sandbox.keys;
    if (key) key.scopes = [];
    await world.work();
    if (key) key.scopes = ['*'];
    return (await world.jobs('parked')).length > 0;
  },
  async 'parked, outcome unknown'(world, sandbox) {
    sandbox.setFault({ kind: 'server-error', when: 'before work', operation: CREATE, times: 1 });
    await world.workToTheEnd();
    return (await world.jobs('parked')).length > 0;
  },
};

/** A person decides what is parked, as its reason says. */
async function decide(world: World, sandbox: Sandbox, clock: TestClock): Promise<void> {
  const { stores } = world;
  for (const job of await world.jobs('parked')) {
    clock.now += 5 * 60_000;
    if (job.parked?.outcomeUnknown) await resolveJob(job, 'again', { ...stores, by: 'alice', clock: () => clock.now });
    else await requeueJob(job, stores);
    await world.workToTheEnd();
  }
  sandbox.clearFaults();
}

/** Holds what there is against what should be. */
async function judge(
  { issue, title }: Truth,
  spacing: Spacing,
  world: World,
  sandbox: Sandbox,
  seeded: number,
): Promise<string[]> {
  const entity = issue.isTransferred ? 'issue-9002' : 'issue-9001';
  const link = await world.stores.links.get(entity);
  const made = sandbox.data.defects.slice(seeded);
  const [defect] = made;
  const wrong: string[] = world.bugs.map((bug) => `a bug: ${JSON.stringify(bug)}`);
  if (made.length > 1) wrong.push(`${made.length} defects`);
  if (issue.isBug && !defect) wrong.push('no defect');
  if (!defect) return wrong;
  if (link.life !== 'made' || link.defect.id !== defect.defect_id) wrong.push(`the link is ${link.life}`);
  // Then it is unknown which of the states is the newest.
  if (spacing === 'one second, nobody can be asked') return wrong;
  const looks = [
    [defect.title, title],
    [/State: (\w+)/.exec(defect.description)?.[1], issue.isClosed ? 'closed' : 'open'],
    [defect.description.includes('No longer labelled'), !issue.isBug],
    [defect.description.includes(`${issue.isTransferred ? THERE : HERE}#`), true],
  ];
  for (const [is, should] of looks) if (is !== should) wrong.push(`looks like ${is} instead of ${should}`);
  return wrong;
}

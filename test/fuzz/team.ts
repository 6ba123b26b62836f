import { createHmac } from 'node:crypto';
import { command, github, hmac, schedule, webhook } from 'partner-relay';
import * as z from 'zod/mini';
import { type Job, jobId } from '../../lib/engine/record/job.ts';
import type { CommandSteps, Steps } from '../../lib/triggers/steps.ts';
import type { Defect } from '../../sandbox/records.ts';
import { exampleOf } from '../issue-events.ts';
import { PROJECT } from '../relay.ts';
import type { Posted } from '../requests.ts';
import type { VirtualClock } from './clock.ts';
import type { Delivery } from './github.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** EventBridge's interval. */
const TICK_MS = HOUR_MS / 4;
const DUE_EVERY_MS = 6 * HOUR_MS;
const HOOK_SECRET = 'what the sender of alerts knows';
const CHOICES = ['one', 'two'] as const;
const NOBODY = 'nobody';
const PICKED_WITHIN_MS = 2 * HOUR_MS;
/** The greatest difference between hosts' clocks. */
const CLOCKS_DIFFER_MS = 1_000;
const CHANNEL = { channel: 'C0PLATFORM' };

const make = async ({ create }: Steps, title: string) => {
  const { id } = await create('defect', 'defects/create', { project_id: PROJECT, title, description: 'of the team' });
  return id;
};

/** The team's automations, one for each kind of trigger. */
export const files = {
  release: {
    on: github('release.published', {
      input: { title: z.string() },
      job: ({ release: { id, name, published_at } }) => ({
        happened: [id],
        at: published_at,
        input: { title: String(name) },
      }),
    }),
    async run({ title }: { title: string }, steps: Steps) {
      const id = await make(steps, title);
      await steps.say('tell', CHANNEL, `${title} is defect ${id}`);
      return `made defect ${id}`;
    },
  },
  alert: {
    on: webhook({
      verify: hmac({ header: 'x-signature', encoding: 'hex' }),
      body: z.object({ title: z.string(), until: z.number() }),
      input: { title: z.string(), until: z.number() },
      job: (input) => ({ happened: [input.title], input }),
    }),
    async run({ title, until }: { title: string; until: number }, steps: Steps) {
      await steps.until('it may be over', until);
      return `made defect ${await make(steps, title)}`;
    },
  },
  incident: {
    on: webhook({
      verify: hmac({ header: 'x-signature', encoding: 'hex' }),
      body: z.object({ name: z.string(), isOver: z.boolean(), number: z.number() }),
      input: { name: z.string(), isOver: z.boolean() },
      // Entities of both groups, so that several hosts work on one incident.
      job: ({ number, ...input }) => ({ happened: [number], entity: `event ${number}`, input }),
    }),
    async run({ name, isOver }: { name: string; isOver: boolean }, { create, found, letGo, say }: Steps) {
      const open = await found('incident', name);
      await say('alert', CHANNEL, `${name} ${isOver ? 'is over' : 'goes on'}`, { for: name });
      if (!isOver) {
        const payload = { project_id: PROJECT, title: name, description: 'of the team' };
        return `made defect ${(await create('incident', 'defects/create', payload, { for: name })).id}`;
      }
      await letGo('incident', name);
      await letGo('alert', name);
      return open === undefined ? 'nothing was open' : `let go defect ${open}`;
    },
  },
  regular: {
    on: schedule('0 */6 * * *', 'UTC'),
    run: async ({ at }: { at: string }, steps: Steps) => `made defect ${await make(steps, dueTitle(Date.parse(at)))}`,
  },
  deploy: {
    on: command('deploy <service>', { does: 'notes a deployment', example: 'deploy web' }),
    async run({ service }: { service: string }, steps: CommandSteps) {
      const { answer } = await steps.ask('may', 'May it go out?');
      return `made defect ${await make(steps, deployTitle(service, answer))}`;
    },
  },
  pick: {
    on: command('pick <service> <until>', { does: 'asks which', example: 'pick web 1795000000000' }),
    async run({ service, until }: { service: string; until: string }, steps: CommandSteps) {
      const of = { choices: CHOICES, until: Number(until), default: NOBODY };
      const { answer } = await steps.ask('which', 'Which one?', of);
      return `made defect ${await make(steps, pickTitle(service, answer))}`;
    },
  },
};

const pickTitle = (service: string, answer: string) => `pick ${service}: ${answer}`;
const dueTitle = (at: number) => `due ${new Date(at).toISOString()}`;
const deployTitle = (service: string, answer: string) => `deploy ${service}: ${answer}`;

/** The events for the team's automations, and their expected results. */
export class Team {
  readonly deliveries: Delivery[] = [];
  /** The expected defects, by the jobs that create them. */
  readonly #wanted = new Map<string, { title: string; delivery: Delivery }>();
  /** The commands that ask an operator, by job, and people's answers. */
  readonly #asking = new Map<string, { service: string; answers: string[] }>();
  /** The commands that ask in Slack, by job. */
  readonly #picking = new Map<string, { service: string; until: number; presses: Press[] }>();
  /** The due times of the schedule for which a tick came. */
  readonly #due = new Set<number>();
  #newestTick: number | undefined;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** A release is published on GitHub. */
  releases(): Delivery {
    const id = this.deliveries.length + 1;
    const example = exampleOf('release', 'published');
    const published_at = new Date(this.#clock.now).toISOString();
    const release = { ...Object(example.release), id, name: `release ${id}`, published_at };
    return this.#tell('release', id, release.name, { ...example, release });
  }

  /** Another tool sends an alert, which is due some minutes later. */
  alerts(): Delivery {
    const title = `alert ${this.deliveries.length + 1}`;
    return this.#tell('alert', title, title, { title, until: this.#clock.now + 5 * 60_000 });
  }

  /** Another tool reports that an incident has begun, continues, or is over. */
  reports(isOver: boolean): Delivery {
    const number = this.deliveries.length + 1;
    const name = `incident ${number % 2}`;
    const delivery = this.#tell('incident', number, name, { name, isOver, number });
    // An older event of the incident may close what a newer one has created.
    if (isOver) this.#wanted.delete(jobId('incident', number));
    return delivery;
  }

  #tell(event: 'release' | 'alert' | 'incident', happened: string | number, title: string, payload: object): Delivery {
    const delivery = { event, issue: undefined, payload, wasSent: false, isAccepted: false };
    this.deliveries.push(delivery);
    this.#wanted.set(jobId(event, happened), { title, delivery });
    return delivery;
  }

  /** A command that asks an operator. @returns the typed text */
  deploys(service: string): { text: string; note: (job: string) => void } {
    const note = (job: string) => void this.#asking.set(job, { service, answers: [] });
    return { text: `deploy ${service}`, note };
  }

  /** @returns a unique answer */
  answer(job: Job): string {
    const answers = this.#asking.get(job.id)?.answers ?? [];
    answers.push(`answer ${answers.length + 1}`);
    return answers.at(-1) ?? '';
  }

  /** A command that asks in Slack. @returns the typed text */
  picks(service: string): { text: string; note: (job: string) => void } {
    const until = this.#clock.now + PICKED_WITHIN_MS;
    const note = (job: string) => void this.#picking.set(job, { service, until, presses: [] });
    return { text: `pick ${service} ${until}`, note };
  }

  /** Notes that a person pressed a button of a question. */
  notePress(job: string, press: Press): void {
    this.#picking.get(job)?.presses.push(press);
  }

  /** The clock's last firing time, in epoch milliseconds. */
  tick(): number {
    return Math.floor(this.#clock.now / TICK_MS) * TICK_MS;
  }

  /** Notes that a tick was handled: every due time of the last 24 hours now has its job. */
  noteTick(at: number): void {
    const after = Math.max(this.#newestTick ?? at - 1, at - DAY_MS);
    for (let due = Math.floor(at / DUE_EVERY_MS) * DUE_EVERY_MS; due > after; due -= DUE_EVERY_MS) this.#due.add(due);
    this.#newestTick = Math.max(this.#newestTick ?? at, at);
  }

  /** Checks what must hold at every moment: each thing is created once, and each answer comes from a person. */
  wrong(defects: readonly Defect[], turnOf: (incident: string) => number): string[] {
    const titles = defects.map(({ title }) => title);
    const ofTeam = titles.filter((title) => /^(release|alert|due|deploy|pick) /.test(title));
    const twice = ofTeam.filter((title, index) => ofTeam.indexOf(title) !== index);
    const ofCommands = [...this.#asking.values()].flatMap(({ service, answers }) => {
      const made = titles.filter((title) => title.startsWith(deployTitle(service, '')));
      const given = answers.map((answer) => deployTitle(service, answer));
      const invented = made.filter((title) => !given.includes(title));
      return [
        ...invented.map((title) => `nobody gave the answer of '${title}'`),
        ...(made.length > 1 ? [`one command has made ${made.join(' and ')}`] : []),
      ];
    });
    const incidents = new Set(titles.filter((title) => /^incident /.test(title)));
    const tooMany = [...incidents].flatMap((name) => {
      const made = titles.filter((title) => title === name).length;
      return made > turnOf(name) + 1 ? [`${made} defects of ${name}, which was let go ${turnOf(name)} times`] : [];
    });
    return [
      ...twice.map((title) => `two defects of ${title}`),
      ...tooMany,
      ...ofCommands,
      ...this.#wronglyPicked(titles),
    ];
  }

  /** Checks that one answer counts, that the asked person gave it, and that it was in time. */
  #wronglyPicked(titles: readonly string[]): string[] {
    return [...this.#picking.values()].flatMap(({ service, until, presses }) => {
      const made = titles.filter((title) => title.startsWith(pickTitle(service, '')));
      const inTime = presses.filter(({ isAsked, at }) => isAsked && at < until + CLOCKS_DIFFER_MS);
      const isOver = this.#clock.now > until - CLOCKS_DIFFER_MS;
      const given = [...inTime.map(({ answer }) => answer), ...(isOver ? [NOBODY] : [])];
      const invented = made.filter((title) => !given.some((answer) => title === pickTitle(service, answer)));
      const told = new Set(presses.flatMap((press) => press.told() ?? []));
      return [
        ...invented.map((title) => `nobody has pressed '${title}'`),
        ...(made.length > 1 ? [`one question has made ${made.join(' and ')}`] : []),
        ...(told.size > 1 ? [`people were told two answers of ${service}: ${[...told].join()}`] : []),
      ];
    });
  }

  /** Checks what must hold when nothing is left to do: no accepted event is lost. */
  lost(all: readonly Job[], defects: readonly Defect[]): string[] {
    const jobs = new Map(all.map((job) => [job.id, job]));
    const isMade = (id: string, titles: readonly string[]) => {
      const job = jobs.get(id);
      // The defect's title changes if a person links an issue to it.
      return (
        job?.discarded !== undefined ||
        defects.some(({ title, defect_id }) => titles.includes(title) || job?.outcome?.includes(defect_id))
      );
    };
    const told = [...this.#wanted].flatMap(([id, { title, delivery }]) =>
      !delivery.isAccepted || isMade(id, [title]) ? [] : [`${title} was accepted, and is lost`],
    );
    const due = [...this.#due].flatMap((at) =>
      isMade(jobId('regular', new Date(at).toISOString()), [dueTitle(at)]) ? [] : [`${dueTitle(at)} did not fire`],
    );
    const answered = [...this.#asking].flatMap(([id, { service, answers }]) => {
      const titles = answers.map((answer) => deployTitle(service, answer));
      const job = jobs.get(id);
      // If the service refuses, the relay tells the person.
      return !job || job.status === 'not-done' || isMade(id, titles)
        ? []
        : [`the answers of ${service} are lost: ${answers.join()}`];
    });
    const strange = all.flatMap(({ automation, status, outcome }) => {
      const id =
        automation === 'incident' && status === 'succeeded' ? /defect (.*)/.exec(outcome ?? '')?.[1] : undefined;
      return id === undefined || defects.some(({ defect_id }) => defect_id === id) ? [] : [`there is no defect ${id}`];
    });
    const picked = [...this.#picking].flatMap(([id, { service, presses }]) => {
      const [told] = presses.flatMap((press) => press.told() ?? []);
      const job = jobs.get(id);
      const titles = (told === undefined ? [...CHOICES, NOBODY] : [told]).map((answer) => pickTitle(service, answer));
      return !job || job.status === 'not-done' || isMade(id, titles)
        ? []
        : [`the answer of ${service} is lost: ${told}`];
    });
    return [...told, ...due, ...answered, ...strange, ...picked];
  }
}

/** A press of a button. */
export interface Press {
  answer: string;
  isAsked: boolean;
  at: number;
  /** The answer that the relay's message names. */
  told: () => string | undefined;
}

/** A body, signed as its sender does. */
export function hookRequest(hook: keyof typeof hooks, payload: object): Posted {
  const body = Buffer.from(JSON.stringify(payload));
  const signature = createHmac('sha256', HOOK_SECRET).update(body).digest('hex');
  return { url: `/hooks/${hook}`, headers: { 'content-type': 'application/json', 'x-signature': signature }, body };
}

export const hooks = { alert: HOOK_SECRET, incident: HOOK_SECRET };

import { setImmediate } from 'node:timers/promises';
import type * as z from 'zod';
import * as zod from 'zod/mini';
import type { $ZodType } from 'zod/v4/core';
import { bareWord, firstWord, idIn, noteIn, withSingleBlanks } from '../../commands/words.ts';
import { slackChannel } from '../../config/names.ts';
import { findRepository, requiresLink } from '../../config/settings.ts';
import type { ToolCall } from '../../config/template.ts';
import { HOUR_MS } from '../../dates.ts';
import { digest } from '../../digest.ts';
import {
  AccountFirst,
  asNotDone,
  InLine,
  Interruption,
  NeedsAnswer,
  NeedsOperator,
  NotDone,
  RetryAt,
  StepFailed,
} from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { createForKey } from '../../engine/run/for-key.ts';
import type { Identity, JobSteps } from '../../engine/run/job-steps.ts';
import { messageForKey } from '../../engine/run/message-for-key.ts';
import { meantName } from '../../faults/fault.ts';
import { refusedFields } from '../../faults/refused-fields.ts';
import { nearMiss } from '../../near-miss.ts';
import type { Person } from '../../people/people.ts';
import { slackUserOf } from '../../people/slack-people.ts';
import { commentMark } from '../../platforms/github/comment-marks.ts';
import { plainText } from '../../platforms/github/plain-text.ts';
import { linkedMessage, message, plainSection, sentence } from '../../platforms/slack/messages.ts';
import { type SentMessage, slackMessage } from '../../platforms/slack/post-message.ts';
import type { SlackApi } from '../../platforms/slack/slack-api.ts';
import { type Operation, rawOperation } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { cutToLength, messageOf } from '../../text.ts';
import type { Asker, Choice, CommandSteps, ForKey, Json, Link, Recipient } from '../../triggers/steps.ts';
import { holderOf } from '../as-person.ts';
import type { Context } from '../context.ts';
import { withFooter } from '../described.ts';
import {
  didYouMean,
  findTask,
  type ReadTask,
  SHOWN_LENGTH,
  type TypedTime,
  tasksOfKey,
  type UnclearTask,
} from '../log-time/find-task.ts';
import { hasActed, isConfirmed } from '../what-happened.ts';
import { askInSlack } from './ask-in-slack.ts';
import { foreignIn } from './json.ts';
import { catchingStrays, strayOf } from './strays.ts';
import { ofTeam, ThrownByTeam, UnknownStep } from './thrown.ts';

/** What a step keeps goes into an item of the table, which holds 400 KB, together with its sends. */
const MOST_KEPT_BYTES = 32_768;
/** The steps that call the service with the key of the relay. */
const WITH_KEY = new Set(['call', 'list', 'create', 'send', 'task', 'user']);
/** The name is part of a key in the table, which holds 1,024 bytes. */
const LONGEST_NAME = 200;
/** A page of 100 rows is one item. */
const MOST_ROW_BYTES = 2_048;
/** A list parks if it does not end within so many pages of up to 100 rows. */
const PAGES = 50;

/** @property asker who gave the command */
type CustomContext = Context & { asker?: Asker | undefined };
type Payload = Record<string, unknown>;
type Kept = Json | undefined;

/**
 * Runs code with the steps of a team's automation. What ends a step ends the run, also if the code catches it or does not
 * wait for the step: it must not go on as if the step were done, or had failed for good. A step without `await` could
 * be under way when the job ends, so each step begins and ends by itself, before the code returns.
 *
 * @param file where the code is, for people
 */
export async function withCustomSteps(
  job: Job,
  steps: JobSteps,
  context: CustomContext,
  file: string,
  run: (own: CommandSteps) => Promise<string>,
): Promise<string> {
  const ends: unknown[] = [];
  const stray = strayOf(file, context, { jobId: job.id }, (error) => ends.push(error));
  let underWay = undefined as { step: string; ended: Promise<unknown> } | undefined;
  let hasReturned = false;

  const taking: Taking = (step, take) => {
    const result = begin(step, take);
    // Code that does not wait for the step must not make a stray of it: it is in `ends`.
    result.catch(() => {});
    return result;
  };

  async function begin<T>(step: string, take: () => Promise<T>): Promise<T> {
    if (hasReturned) stray(outOfTurn(`the step '${step}' begins after run has returned`));
    else if (underWay) ends.push(outOfTurn(`the step '${step}' begins while '${underWay.step}' is under way`));
    if (ends.length > 0) throw ends[0];
    const taken = take();
    underWay = { step, ended: taken.catch((error: unknown) => ends.push(error)) };
    try {
      return await taken;
    } finally {
      underWay = undefined;
    }
  }

  const code = async () => run(createCustomSteps(job, steps, context, taking));
  const said = await catchingStrays(stray, code).catch((error: unknown) => {
    ends.push(error instanceof Interruption ? error : new ThrownByTeam(error));
    return '';
  });
  hasReturned = true;
  if (underWay) ends.push(outOfTurn(`run returned while the step '${underWay.step}' was under way`));
  await underWay?.ended;
  // Strays are known after this turn of the event loop.
  await setImmediate();
  if (ends.length > 0) throw ends.find(isWait) ?? ends[0];
  return said;
}

/** A wait comes first: a creation without an answer is sent again, and the next run comes to the same mistake. */
const isWait = (end: unknown) => end instanceof RetryAt || end instanceof InLine;

const outOfTurn = (what: string) =>
  new NeedsOperator(`${what}. Steps run one after the other: await each, in a list with for (const one of all)`);

type Taking = <T>(step: string, take: () => Promise<T>) => Promise<T>;

/**
 * The steps that a team's automation gets. Its code is typed against lib/triggers/steps.ts; what the types refuse is
 * refused here, too, because a start on one machine checks no types.
 */
function createCustomSteps(job: Job, steps: JobSteps, context: CustomContext, taking: Taking): CommandSteps {
  const { asker, config, custom, stage, clock, markers, comments, github, slack, people } = context;
  const by = job.asked?.by;
  const forKey = createForKey(job, steps, context);

  /** What the asker can correct in what they typed ends the job with that reason. */
  const refused = (error: unknown) => (by ? asNotDone(error, 'this', job.replyTo?.in === 'github') : error);

  async function asking<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw refused(error);
    }
  }

  /** Digits that people type, written as the service writes that identifier. */
  async function withIds(operation: Operation, payload: Payload): Promise<Payload> {
    const entries = await Promise.all(
      Object.entries(payload).map(async ([field, value]) => {
        const isId = field.endsWith('_id') && typeof value === 'string' && /^\d+$/.test(value);
        return [field, isId ? await steps.idFrom(operation, field, value) : value] as const;
      }),
    );
    return Object.fromEntries(entries);
  }

  /** @throws {NeedsOperator} if new code would make again what the code before it has made */
  function ensureNothingIsLeft(step: string, operation: Operation): void {
    // What this job took over for a key, no code has made.
    const left = steps.unreached(step, operation.name).find((one) => !isOfRelay(one));
    if (left === undefined) return;
    throw new NeedsOperator(
      `the step '${left}' of this job has carried out ${operation.name}, or may have, and this version of ${job.automation} reaches '${step}' without it. Give the step its name back, or discard the job`,
    );
  }

  async function once(step: string, operation: Operation, payload: Payload, identity?: Identity) {
    ensureNothingIsLeft(step, operation);
    return asking(steps.create(step, operation, payload as z.input<typeof operation.payload>, identity));
  }

  async function actor(): Promise<Person> {
    if (!by) throw new NeedsOperator(`${job.automation} acts as a person, but nobody asked for this job`);
    if (config.connections[job.connection]?.mcp.accounts === 'off') {
      throw new NeedsOperator(`connections.${job.connection}.mcp.accounts is off, so no account is linked`);
    }
    if (by.in === 'github' && !isConfirmed(steps)) {
      throw new NotDone('The relay has no permission to read on GitHub who wrote this. Ask for it in Slack');
    }
    return steps.decide('who acts', 'account link', async () => {
      const holder = await holderOf(people.holdersFor(by), steps, true);
      if (holder) return holder;
      throw new AccountFirst(`This needs your own account. Link it in Slack with ${config.slack?.command} link`, []);
    });
  }

  /** @throws {NeedsOperator} */
  function inSlack(step: string): SlackApi {
    if (slack) return slack;
    throw new NeedsOperator(`the step '${step}' needs slack, which relay.config.ts does not have`);
  }

  async function recipient(step: string, to: Recipient): Promise<{ channelId: string } | { userId: string }> {
    if (to === 'asker') {
      if (by?.in === 'slack') return { userId: by.id };
      throw new NeedsOperator(`the step '${step}' is for the person who asked, and this job does not come from Slack`);
    }
    if ('channel' in to) return { channelId: to.channel };
    const userId = await slackUserOf(to.email, named(step), context);
    if (userId === undefined) throw new NotDone('nobody in Slack has the e-mail address that the message is for');
    return { userId };
  }

  async function askPeople(
    step: string,
    text: string,
    {
      to = 'asker',
      choices,
      until,
    }: { to?: Recipient; choices: readonly Choice[]; until: string | number | { hours: number } },
  ) {
    const place = await recipient(step, to);
    if ('channelId' in place && !slackChannel.safeParse(place.channelId).success)
      throw new NeedsOperator(`the step '${step}' needs the id of a channel, such as C0123ABCD`);
    const question = {
      text,
      to: place,
      choices,
      until: momentOf(step, typeof until === 'object' ? clock() + until.hours * HOUR_MS : until),
    };
    const answer = await askInSlack(step, question, { job, steps, slack: inSlack(step), context });
    if (!answer) return undefined;
    // They see it answered by their handle, which few people know.
    const name = await people.nameOf({ in: 'slack', id: answer.userId }, named(step));
    return { by: name ?? answer.by, value: answer.value };
  }

  /** @throws {NotDone} if the person does not choose one, or cannot be asked */
  async function chosenTask(step: string, { fault, said, offered }: UnclearTask): Promise<ReadTask> {
    const missing = new NotDone(`${fault}. Give its id, or its whole name`);
    if (offered.length === 0) throw missing;
    if (by?.in !== 'slack') {
      const list = offered.map(({ task }) =>
        by ? task.id : `${task.id} (${cutToLength(task.name, SHOWN_LENGTH, '…')})`,
      );
      throw new NotDone(`${fault}. ${didYouMean(offered)} ${list.join(', ')}`);
    }
    const names = offered.map(({ task }) => task.name);
    const choices = offered.map(({ task: { id, name } }, index) => {
      const isAlone = names.filter((other) => other === name).length === 1;
      return { text: isAlone ? name : `${cutToLength(name, 30, '…')} ${id}`, value: index };
    });
    const chosen = await askPeople(`${step}: which`, `${sentence(said)} ${didYouMean(offered)}`, {
      choices: [...choices, { text: 'None of these', value: -1 }],
      until: { hours: 1 },
    });
    const read = offered[Number(chosen?.value ?? -1)];
    if (read) return read;
    throw missing;
  }

  /** Steps that a step consists of. */
  const named = (step: string): JobSteps => ({
    ...steps,
    call: (name, ...rest) => steps.call(`${step}: ${name}`, ...rest),
    list: (name, ...rest) => steps.list(`${step}: ${name}`, ...rest),
    read: (name, ...rest) => steps.read(`${step}: ${name}`, ...rest),
  });

  const own = {
    stage,
    asker,
    async call(step: string, name: string, payload: Payload, keep: (data: unknown) => Kept = () => null) {
      const operation = declared(step, name, ['read', 'repeatable'], 'call');
      return asking(
        steps.call(step, operation, await withIds(operation, payload), (data) => checked(step, () => keep(data))),
      );
    },
    async list(
      step: string,
      name: string,
      payload: Payload,
      keep: (row: unknown) => Kept,
      { part = false }: { part?: boolean } = {},
    ) {
      const operation = declared(step, name, ['read'], 'list') as Operation<z.ZodType, z.ZodType<unknown[]>>;
      const idField = `${name.replace(/s?\/.*/, '')}_id`;
      const keepRow = (row: unknown) => {
        const kept = checked(step, () => keep(row), MOST_ROW_BYTES);
        return kept === null ? undefined : { id: (row as Record<string, string | number | undefined>)[idField], kept };
      };
      const { kept, whole } = await asking(
        steps.list(step, operation, await withIds(operation, payload), keepRow, ({ id }) => id, PAGES),
      );
      if (whole || part) return kept.map((row) => row.kept);
      throw new NeedsOperator(
        `the list of the step '${step}' (${name}) is incomplete, so rows may be missing; { part: true } accepts that`,
      );
    },
    async create(step: string, name: string, payload: Payload, of?: ForKey) {
      const operation = declared(step, name, ['create'], 'create');
      const { found } = operation;
      const given = await withIds(operation, payload);
      const make = (identity?: Identity) => {
        const marked = found &&
          identity?.marker && { [found.field]: withMarker(payload[found.field], identity.marker) };
        return once(step, operation, { ...given, ...marked }, identity);
      };
      if (of) return { id: await forKey.create(step, keyOf(step, of.for), operation, given, make) };
      const marker = found && (await markers.of('own', job.id, step));
      const { id } = await make({ marker });
      return { id };
    },
    found: (name: string, key: ForKey['for']) => forKey.found(name, keyOf(name, key)),
    letGo: (name: string, key: ForKey['for']) => forKey.letGo(name, keyOf(name, key)),
    async send(step: string, path: string, payload: Payload) {
      const raw = anyPath(step, path);
      const operation = operations.has(raw.name) ? declared(step, raw.name, ['unknown'], 'send') : raw;
      await once(step, operation, await withIds(operation, payload));
    },
    async say(step: string, to: Recipient, text: string | readonly (string | Link)[], of?: ForKey) {
      const place = await recipient(step, to);
      const said = typeof text === 'string' ? message(plainSection(text)) : linkedMessage(withAddresses(step, text));
      const slack = inSlack(step);
      const reply = of
        ? messageForKey(job, { step, key: keyOf(step, of.for), to: place, said }, { ...context, slack })
        : slackMessage(place, `${job.id} ${step}`, said, slack);
      const sent = await steps.tell<SentMessage | string>(step, reply);
      if (typeof sent !== 'string' && 'leftOut' in sent) throw new NotDone(sent.leftOut);
    },
    async comment(step: string, { repository, issue }: { repository: string; issue: number }, text: string) {
      const place = { repository: configured(step, repository), issueNumber: issue };
      const thread = await comments.for(place);
      if (!thread) throw new NeedsOperator(`the step '${step}' needs credentials in the github secret`);
      const mark = commentMark(digest([job.id, step]));
      await steps.tell(step, {
        calls: 'GitHub comment',
        find: (since) => thread.find(mark, since),
        make: (mayLeave) => thread.make(`${plainText(text)}\n\n${mark}`, mayLeave),
      });
    },
    async github(step: string, path: string, keep: $ZodType<Json>) {
      const { pathname, search } = pathOf(step, path);
      const [, , owner, repo] = pathname.split('/');
      const repository = configured(step, `${owner}/${repo}`);
      return steps.look(step, `GitHub GET ${pathname}`, () =>
        github.ask(
          async () => {
            const authorized = await github.at({ repository });
            if (!authorized) throw new NeedsOperator(`the step '${step}' needs credentials in the github secret`);
            // Octokit takes `:name` and `{name}` for parameters.
            const plain = `${pathname}${search}`.replaceAll(/[:{}]/g, (one) => encodeURIComponent(one));
            const { data } = await authorized.request(`GET ${plain}`);
            return checked(step, () => parsed(step, keep, data));
          },
          ({ status, message }) => {
            const why = custom.showsErrors ? `: ${message}` : '';
            throw new NeedsOperator(`GitHub refuses GET ${path} of the step '${step}' with ${status}${why}`);
          },
        ),
      );
    },
    async task(step: string, text: string, { rest = false }: { rest?: boolean } = {}) {
      const found = await asking(
        findTask(rest ? withRest(text) : { task: text, day: 'today' }, tasksOfKey(named(step))),
      );
      const read = 'task' in found ? found : await chosenTask(step, found);
      return rest ? { ...read.task, rest: noteIn(read.note ?? '') } : read.task;
    },
    async user(step: string) {
      if (!by) throw new NeedsOperator(`the step '${step}' is for the person who asked, and nobody asked for this job`);
      return steps.read(step, 'user of the service', async () => {
        try {
          const { userId: id, name } = await people.userOf(by, job.connection, named(step));
          return { user: { id, name } };
        } catch (error) {
          if (error instanceof NotDone) return { why: error.message };
          throw error;
        }
      });
    },
    async until(step: string, time: string | number) {
      const at = await steps.read(step, 'clock', async () => momentOf(step, time));
      if (clock() < at)
        throw new RetryAt(at, `it waits for the time of the step '${step}'`, { releasesQueueGroup: true });
    },
    async ask(step: string, question: string, of?: Parameters<typeof askPeople>[2] & { default?: Kept }) {
      if (of) {
        const { by, value } = (await askPeople(step, question, of)) ?? { by: undefined, value: of.default };
        return { by, answer: value };
      }
      // Counted, because the clock of who answers may differ.
      const { newest, older } = job.decisions ?? { newest: [], older: 0 };
      const before = await steps.read(`${step}: asked`, 'a person', async () => older + newest.length);
      return steps.read(step, 'a person', async () => {
        const later = newest.slice(Math.max(0, before - older));
        const { by, reason = '' } = later.find(({ what, reason }) => what === 'replayed' && reason) ?? {};
        if (by !== undefined) return { by, answer: reason };
        throw new NeedsAnswer(question);
      });
    },
    stop(why: string): never {
      throw new NotDone(why);
    },
    async as(
      step: string,
      { changes, ...call }: ToolCall & { changes: boolean },
      keep: (answer: { texts: readonly string[]; structured?: unknown }) => Kept,
    ) {
      const tools = steps.as(await actor());
      return tools[changes ? 'change' : 'read'](step, call, (answer) => checked(step, () => keep(answer)));
    },
  };
  const isLinkRequired = by !== undefined && requiresLink(config, job.connection);
  return eachNamedOnce(own, isLinkRequired ? inOwnName : async () => {}, taking) as CommandSteps;

  /**
   * The key may see and do more than the person may. A job that has begun with the key goes on with it.
   * @throws {NotDone}
   */
  async function inOwnName(verb: string): Promise<void> {
    if (!WITH_KEY.has(verb) || hasActed(steps)) return;
    throw new NotDone(
      `Here, people act in their own name, and ${job.asked?.verb} needs the key of the relay for ${verb}(). Tell ${config.contact}`,
    );
  }

  /** @throws {NeedsOperator} for a repository that relay.config.ts does not name: what a payload says is no permission */
  function configured(step: string, repository: string): string {
    const found = findRepository(config, repository);
    if (found) return found.name;
    throw new NeedsOperator(`the step '${step}' names ${repository}, which is not in relay.config.ts`);
  }
}

/**
 * What a step of the same name kept would come back in place of a second one.
 * @param ensureAllowed throws if the step may not be carried out
 */
function eachNamedOnce(steps: object, ensureAllowed: (verb: string) => Promise<void>, taking: Taking): object {
  const named = new Set<string>();
  const lists = new Set<string>();
  /** A list has a step for each of its pages. */
  const isPage = (step: string) =>
    [...lists].some((list) => step.startsWith(list) && /^ \d+$/.test(step.slice(list.length)));
  const entries = Object.entries(steps).map(([verb, take]) => {
    if (typeof take !== 'function' || verb === 'stop') return [verb, take] as const;
    const once = async (step: unknown, ...rest: unknown[]) => {
      if (typeof step !== 'string' || step === '') throw new NeedsOperator(`${verb}() needs a name for its step`);
      if (step.length > LONGEST_NAME)
        throw new NeedsOperator(
          `the step '${cutToLength(step, 40, '…')}' has a name of ${step.length} characters; ${LONGEST_NAME} is the most`,
        );
      if (isOfRelay(step)) throw new NeedsOperator(`the relay itself names a step '${step}'; choose another name`);
      if (verb === 'list') lists.add(step);
      // These have the name of the thing.
      const own = verb === 'found' || verb === 'letGo' ? `${step}: ${verb} ${rest[0]}` : step;
      if (named.has(own) || [step, ...named].some(isPage)) {
        throw new NeedsOperator(
          `the step '${step}' occurs twice in one run, or is the page of a list; give each step a name of its own, such as '${step} <id>'`,
        );
      }
      named.add(own);
      await ensureAllowed(verb);
      return take(step, ...rest);
    };
    return [verb, (...given: Parameters<typeof once>) => taking(String(given[0]), () => once(...given))] as const;
  });
  return new Proxy<Record<string | symbol, unknown>>(Object.fromEntries(entries), {
    get(steps, name) {
      const meant = name in steps ? undefined : nearMiss(String(name), Object.keys(steps));
      if (meant === undefined) return steps[name];
      throw new UnknownStep(`there is no step '${String(name)}'; did you mean '${meant}'?`);
    },
  });
}

/** Steps that the relay takes in front of a run, within its steps, and behind it. */
const isOfRelay = (step: string) =>
  /^(reply|not done|who acts|who is it|tell (waiting|parked) .*|may @.*)$|: /.test(step);

/**
 * A path as it is sent: without `..` and the like, which would lead to another repository.
 * @throws {NeedsOperator}
 */
function pathOf(step: string, path: string): URL {
  // A URL would leave out what these stand for.
  const whole = path.replaceAll('#', '%23');
  const isPath = /^\/repos\/[^\t\n\r]+$/.test(whole) && URL.canParse(whole, 'https://api');
  const url = isPath ? new URL(whole, 'https://api') : undefined;
  const isBelow = url && /^\/repos\/[^/]+\/[^/]/.test(url.pathname);
  if (isBelow && !/(%2f|%5c)\.\.|\.\.(%2f|%5c)/i.test(url.pathname.replaceAll(/%2e/gi, '.'))) return url;
  throw new NeedsOperator(
    `the step '${step}' needs a path such as /repos/acme/web/releases/latest, which '${path}' is not`,
  );
}

/** @throws {NeedsOperator} */
function anyPath(step: string, path: string): Operation {
  try {
    return rawOperation(path);
  } catch (error) {
    throw new NeedsOperator(`the step '${step}' cannot be sent: ${messageOf(error)}`);
  }
}

/** @throws {NeedsOperator} for a key that would be the same for all that have none */
function keyOf(step: string, key: unknown): string {
  if ((typeof key === 'string' && key !== '') || Number.isFinite(key)) return String(key);
  throw new NeedsOperator(`the step '${step}' has no key; give a text or a number that says what it is for`);
}

/** The name of a task, and words behind it. */
function withRest(typed: string): TypedTime {
  const text = withSingleBlanks(typed);
  const { word, rest, isQuoted } = firstWord(text) ?? { word: text, rest: '', isQuoted: false };
  const read = {
    task: isQuoted ? word : (idIn(word) ?? bareWord(word)),
    day: 'today',
    note: rest || undefined,
  } as const;
  return isQuoted || rest === '' ? read : { ...read, open: { text, day: 'today' } };
}

/** The marker stands at the end, behind what others wrote. */
const withMarker = (text: unknown, marker: string) => withFooter(typeof text === 'string' ? text : '', marker);

/** @throws {NeedsOperator} */
function declared(step: string, name: string, effects: readonly Operation['effect'][], verb: string): Operation {
  const operation = operations.get(name);
  if (!operation) {
    throw new NeedsOperator(
      `the step '${step}' calls ${name}, which the relay does not declare; ${meantName(name, [...operations.keys()])}. send() takes any path`,
    );
  }
  const fitting = { create: 'create', unknown: 'send', read: 'call or list', repeatable: 'call' }[operation.effect];
  if (effects.includes(operation.effect)) return operation;
  throw new NeedsOperator(
    `the step '${step}' calls ${name} with ${verb}(); use ${fitting}(), because of what the operation does`,
  );
}

/**
 * What comes back from the journal is the same only if it is JSON.
 * @throws {NeedsOperator}
 */
function checked(step: string, keep: () => Kept, most = MOST_KEPT_BYTES): Json {
  const kept = ofTeam(keep);
  const foreign = foreignIn(kept, '');
  if (foreign)
    throw new NeedsOperator(
      `the step '${step}' keeps a ${foreign.is}, which JSON does not have; keep a text or a number instead`,
    );
  const bytes = Buffer.byteLength(JSON.stringify(kept ?? null));
  if (bytes <= most) return kept ?? null;
  throw new NeedsOperator(`the step '${step}' keeps ${bytes} bytes; keep at most ${most}: choose fields`);
}

/** @throws {StepFailed} if the answer is not as the automation expects it */
function parsed(step: string, schema: $ZodType<Json>, data: unknown): Json {
  const read = zod.safeParse(schema, data);
  if (read.success) return read.data;
  const fields = refusedFields(read.error.issues);
  throw new StepFailed(`the answer to the step '${step}' is not as its schema says: ${fields}`);
}

/** @throws {NeedsOperator} for a link that leads to no page */
function withAddresses(step: string, parts: readonly (string | Link)[]): readonly (string | Link)[] {
  const wrong = parts.find((part) => typeof part !== 'string' && !/^https?:\/\/\S+$/.test(part?.url));
  if (wrong === undefined) return parts;
  throw new NeedsOperator(`the step '${step}' has a link that does not begin with https://`);
}

/** Numbers outside are seconds, or nanoseconds. */
const TIMES_MS = { from: Date.UTC(2000), to: Date.UTC(2100) };

/** @throws {NeedsOperator} */
function momentOf(step: string, time: string | number): number {
  // Without a zone, ECMAScript would take that of the machine.
  const at = typeof time === 'number' ? time : Date.parse(/[T ][\d:.]+$/.test(time) ? `${time}Z` : time);
  if (at >= TIMES_MS.from && at < TIMES_MS.to) return at;
  throw new NeedsOperator(
    `the step '${step}' waits until '${time}', which is not a time between 2000 and 2100; write it in ISO 8601, or in epoch milliseconds`,
  );
}

import type * as z from 'zod';
import type { $ZodType } from 'zod/v4/core';
import { bareWord, firstWord, idIn, noteIn, withSingleBlanks } from '../../commands/words.ts';
import { slackChannel } from '../../config/names.ts';
import { findRepository, requiresLink } from '../../config/settings.ts';
import type { ToolCall } from '../../config/template.ts';
import { HOUR_MS } from '../../dates.ts';
import { digest } from '../../digest.ts';
import {
  AccountFirst,
  ifRefused,
  NeedsAnswer,
  NeedsOperator,
  NotDone,
  RetryAt,
} from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { createForKey } from '../../engine/run/for-key.ts';
import type { Identity, JobSteps } from '../../engine/run/job-steps.ts';
import { messageForKey } from '../../engine/run/message-for-key.ts';
import type { Person } from '../../people/people.ts';
import { slackUserOf } from '../../people/slack-people.ts';
import { commentMark } from '../../platforms/github/comment-marks.ts';
import { plainText } from '../../platforms/github/plain-text.ts';
import { linkedMessage, message, plainSection, sentence } from '../../platforms/slack/messages.ts';
import { type SentMessage, slackMessage } from '../../platforms/slack/post-message.ts';
import type { SlackApi } from '../../platforms/slack/slack-api.ts';
import { cutToLength } from '../../text.ts';
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
  WHAT_WORKS,
} from '../log-time/find-task.ts';
import { hasActed, isConfirmed } from '../what-happened.ts';
import { askInSlack } from './ask-in-slack.ts';
import {
  checked,
  declared,
  type Kept,
  keyOf,
  momentOf,
  parsed,
  pathOf,
  sendable,
  withAddresses,
} from './step-checks.ts';
import { eachNamedOnce, isOfRelay, type Taking } from './step-names.ts';

/** The steps that call the service with the relay's key. */
const WITH_KEY = new Set(['call', 'list', 'create', 'send', 'task', 'user']);
/** A page of 100 rows is stored in one item. */
const MOST_ROW_BYTES = 2_048;
/** A job parks if a list has more pages than this, with up to 100 rows each. */
const PAGES = 50;

/** @property asker the person who gave the command */
export type CustomContext = Context & { asker?: Asker | undefined };
type Payload = Record<string, unknown>;
type Operation = Parameters<JobSteps['call']>[1];
type ListOperation = Parameters<JobSteps['list']>[1];

/**
 * Creates the steps for a custom automation. The team's code is typed against lib/triggers/steps.ts. These steps check
 * the types again at run time, because a local start checks none.
 */
export function createCustomSteps(job: Job, steps: JobSteps, context: CustomContext, taking: Taking): CommandSteps {
  const { asker, config, custom, stage, clock, markers, comments, github, slack, people } = context;
  const by = job.asked?.by;
  const forKey = createForKey(job, steps, context);

  /** If the service refuses what the person typed, ends the job with the reason, so that they can correct it. */
  const asking = <T>(call: Promise<T>) => (by ? call.catch(ifRefused('this', job.replyTo?.in === 'github')) : call);

  /** Converts typed digits to the format that the service uses for that identifier. */
  async function withIds(operation: Operation, payload: Payload): Promise<Payload> {
    const entries = await Promise.all(
      Object.entries(payload).map(async ([field, value]) => {
        const isId = field.endsWith('_id') && typeof value === 'string' && /^\d+$/.test(value);
        return [field, isId ? await steps.idFrom(operation, field, value) : value] as const;
      }),
    );
    return Object.fromEntries(entries);
  }

  /** @throws {NeedsOperator} if the job's earlier code has already created this, under another step name */
  function ensureNothingIsLeft(step: string, operation: Operation): void {
    // Steps of the relay itself are left out; no code of the team made them.
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
    throw new NeedsOperator(
      `the step '${step}' needs slack, and the relay runs without it: add it to relay.config.ts, and restart or deploy the relay`,
    );
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
    // The answer contains only a handle, but people know each other by name.
    const name = await people.nameOf({ in: 'slack', id: answer.userId }, named(step));
    return { by: name ?? answer.by, value: answer.value };
  }

  /** @throws {NotDone} if the person chooses no task, or cannot be asked */
  async function chosenTask(step: string, { fault, said, offered }: UnclearTask): Promise<ReadTask> {
    if (offered.length === 0) throw new NotDone(`${fault}. ${WHAT_WORKS}`);
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
    throw new NotDone(
      `nothing was done. Give the task's id or its whole name; ${config.slack?.command} find shows both`,
    );
  }

  /** The steps for the parts of one step; the step's name precedes each of their names. */
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
      const operation = declared(step, name, ['read'], 'list') as ListOperation;
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
      const operation = sendable(step, path);
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
            // Octokit would replace `:name` and `{name}` by parameters.
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
      // Counts decisions instead of comparing times, because the operator's clock may differ.
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
   * Refuses steps that use the relay's key, which may have more rights than the person. A job that has already acted
   * with the key continues with it.
   * @throws {NotDone}
   */
  async function inOwnName(verb: string): Promise<void> {
    if (!WITH_KEY.has(verb) || hasActed(steps)) return;
    throw new NotDone(
      `Here, people act in their own name, and ${job.asked?.verb} needs the key of the relay for ${verb}(). Tell ${config.contact}`,
    );
  }

  /** @throws {NeedsOperator} for a repository that is not in relay.config.ts, because a payload is no permission */
  function configured(step: string, repository: string): string {
    const found = findRepository(config, repository);
    if (found) return found.name;
    throw new NeedsOperator(`the step '${step}' names ${repository}, which is not in relay.config.ts`);
  }
}

/** Splits a task's name from the words behind it. */
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

/** Appends the marker, behind text from outside. */
const withMarker = (text: unknown, marker: string) => withFooter(typeof text === 'string' ? text : '', marker);

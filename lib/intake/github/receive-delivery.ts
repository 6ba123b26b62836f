import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as z from 'zod/mini';
import type { AcceptCustomOptions } from '../../automations/custom/accept-custom.ts';
import type { About } from '../../automations/github-trigger.ts';
import { onGithubOfOurs } from '../../automations/on-github.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import { DAY_MS } from '../../dates.ts';
import { type Accepted, acceptTaken, type Taken } from '../../engine/line/accept-taken.ts';
import type { Cause } from '../../engine/record/job.ts';
import type { JobSignatures } from '../../engine/record/job-signatures.ts';
import type { JobStore } from '../../engine/record/job-store.ts';
import type { Links } from '../../links/links.ts';
import { type GithubDelivery, keptForMs, readDelivery } from '../../platforms/github/delivery.ts';
import { asConfigured } from '../../platforms/github/moved-repositories.ts';
import {
  isTaken,
  login,
  type Payload,
  PayloadError,
  payloads,
  readPayload,
  type TakenEvent,
  text,
} from '../../platforms/github/payload.ts';
import type { NoteHook } from '../../platforms/github/redelivery/note-hook.ts';
import { HttpError, jsonAnswer, type RawRequest } from '../../state/http/function-url.ts';
import { type CustomOf, customOf } from '../../triggers/custom-automation.ts';
import type { NamedCause } from './accept-custom-event.ts';
import { takeComment } from './take-comment.ts';

export interface ReceiveOptions extends AcceptCustomOptions {
  config: RelayConfig;
  signatures: JobSignatures;
  links: Links;
  noteHook: NoteHook;
}

const named = z.object({ repository: z.object({ full_name: text(600) }) });
const withSender = z.object({ action: z.optional(text(40)), sender: z.optional(z.object({ login })) });

type TakeOptions = Pick<ReceiveOptions, 'config' | 'custom' | 'links'> & { jobs: Pick<JobStore, 'get'> };

/**
 * Returns what a delivery leads to, from its payload alone.
 * @throws {PayloadError} if a delivery of a configured repository cannot be read
 */
export async function takeDelivery({ event, payload }: GithubDelivery, options: TakeOptions): Promise<Taken[]> {
  return isTaken(event) ? take(event, payload, options) : [];
}

async function take(event: TakenEvent, sent: unknown, { config, custom, links, jobs }: TakeOptions): Promise<Taken[]> {
  const { full_name } = readPayload(event, named, sent).repository;
  const repository = findRepository(config, full_name);
  if (!repository) return [`${full_name} is not in relay.config.ts`];
  const payload = readPayload<Payload<TakenEvent>>(event, payloads[event], sent);
  const isKnown = async (id: string) => (await jobs.get(id)) !== undefined;
  const about: About = { repository, config, links, isKnown, inTexts: () => import('./on-demand.ts') };
  if (event === 'issue_comment') return [await takeComment(payload as Payload<'issue_comment'>, about, custom)];
  const taking = onGithubOfOurs.filter((trigger) => trigger.event === event);
  const taken = await Promise.all(taking.map((trigger) => trigger.take(payload, about)));
  return taken.filter((one) => one !== undefined);
}

/** Added to GitHub's redelivery period, for GitHub's clock and for deliveries in transit. */
const MARGIN_MS = DAY_MS;

/**
 * Turns a verified delivery into jobs, and answers once they are stored and queued: 202 for new jobs, 200 for a repeat
 * of known jobs, and 202 with the reason if no automation handles the delivery.
 *
 * @throws {HttpError} 400 if the delivery cannot be read
 */
export async function receiveDelivery(
  request: RawRequest,
  options: ReceiveOptions,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { noteHook, config } = options;
  const { delivery, taken, wanting } = await readable(async () => {
    const read = readDelivery(request.bytes, request.headers);
    const { event } = causeOf(read);
    const wanting = customOf(options.custom, 'github').filter(({ events }) => events.includes(event));
    const taken = await takeDelivery(read, options);
    const { full_name } = Object(read.payload.repository);
    // A delivery for which nothing is stored is answered without the table.
    if (
      findRepository(config, String(full_name)) &&
      wanting.length === 0 &&
      taken.every((one) => typeof one === 'string')
    )
      return { delivery: read, taken, wanting };
    const delivery = await asConfigured(read, options);
    if (delivery)
      return { delivery, taken: delivery === read ? taken : await takeDelivery(delivery, options), wanting };
    return { delivery: read, taken: [`${full_name} has another owner than before`], wanting: [] };
  });
  // Runs in parallel and independently of the result, so that the redelivery knows which hook to ask about failed
  // deliveries.
  const noted = noteHook(delivery, request.headers);
  try {
    if (delivery.event !== 'ping') return await accept(delivery, taken, wanting, options);
    return jsonAnswer(200, { pong: 'the webhook reaches Partner Relay, and its secret is correct' });
  } finally {
    await noted;
  }
}

async function accept(
  delivery: GithubDelivery,
  taken: readonly Taken[],
  wanting: readonly CustomOf<'github'>[],
  options: ReceiveOptions,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { config, clock, log, metrics } = options;
  const { event, deliveryId, trace } = delivery;
  const cause = causeOf(delivery);
  const accepted: Accepted['jobs'] = [];
  const ignored: string[] = [];
  const longestMs = keptForMs(config.github.apiUrl) + MARGIN_MS;
  for (const one of taken) {
    // GitHub does not resend events this old, so someone stored and replayed this one. No record shows any more whether
    // it was carried out.
    const isOld = typeof one !== 'string' && one.some(({ at }) => at !== undefined && !(clock() - at <= longestMs));
    const result = isOld
      ? `it is more than ${longestMs / DAY_MS} days old, and GitHub does not redeliver events that old`
      : await drafted(one, cause, options);
    const made = await acceptTaken(result, options, { deliveryId, trace });
    accepted.push(...made.jobs);
    ignored.push(...made.ignored);
  }
  // Custom automations come last, so that their mistakes cannot affect the built-in ones.
  const failed: string[] = [];
  if (wanting.length > 0) {
    const { acceptCustomEvent } = await import('./on-demand.ts');
    const own = await acceptCustomEvent(wanting, delivery, cause, options);
    accepted.push(...own.jobs);
    ignored.push(...own.ignored);
    failed.push(...own.failed);
  }
  metrics.record({ EventsReceived: 1, EventsTaken: accepted.length > 0 ? 1 : 0 });
  if (failed.length > 0) {
    const files = failed.map((name) => `automations/${name}.ts`).join(', ');
    throw new HttpError(
      500,
      `${files} failed on this delivery; repair the file, then redeliver it, or send a new event`,
    );
  }
  if (accepted.length === 0) {
    const reason = ignored.join('; ') || `no automation handles ${event} events`;
    log.info({ message: 'delivery ignored', deliveryId, event, reason });
    return jsonAnswer(202, { jobs: [], ignored: reason });
  }
  const repeat = accepted.every((job) => job.repeat);
  return jsonAnswer(repeat ? 200 : 202, { jobs: accepted.map((job) => job.id), repeat });
}

/** Adds the cause to the jobs. If a person has too many jobs under way, replaces their jobs. */
async function drafted(taken: Taken, cause: Cause, options: ReceiveOptions): Promise<Taken> {
  if (typeof taken === 'string') return taken;
  const isOfPerson = taken.some(({ draft }) => draft.asked?.by);
  const drafts = isOfPerson ? await (await import('./on-demand.ts')).withinTurns(taken, options) : taken;
  return drafts.map((one) => ({ ...one, draft: { ...one.draft, cause } }));
}

function causeOf({ event, deliveryId, payload, trace }: GithubDelivery): NamedCause {
  const { action, sender } = withSender.safeParse(payload).data ?? {};
  return {
    from: 'github',
    id: deliveryId,
    event: action === undefined ? event : `${event}.${action}`,
    ...(sender && { person: sender.login }),
    ...(trace !== undefined && { trace }),
  };
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PayloadError) throw new HttpError(400, error.message, { cause: error });
    throw error;
  }
}

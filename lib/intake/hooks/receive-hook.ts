import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { $ZodIssue } from 'zod/v4/core';
import { type AcceptCustomOptions, acceptCustomJobs } from '../../automations/custom/accept-custom.ts';
import { ofTeam } from '../../automations/custom/thrown.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { refusedFields } from '../../faults/refused-fields.ts';
import { HttpError, jsonAnswer, type RawRequest } from '../../state/http/function-url.ts';
import { MAX_SKEW_SECONDS } from '../../state/http/signatures.ts';
import { traceOf } from '../../state/http/trace.ts';
import { hooksSecret, secretsOf } from '../../state/secrets/hook-secrets.ts';
import { isAcceptedBySecret, SecretError, type Secrets } from '../../state/secrets/secrets.ts';
import { parsedJson } from '../../text.ts';
import { type CustomAutomations, type CustomOf, customOf } from '../../triggers/custom-automation.ts';
import type { JobInput } from '../../triggers/trigger.ts';
import type { WebhookTrigger } from '../../triggers/webhook.ts';
import { challengeAnswer } from './challenge.ts';
import { isGenuine, keyOf, proofOf, untimely } from './is-genuine.ts';

export interface ReceiveHookOptions extends AcceptCustomOptions {
  config: RelayConfig;
  secrets: Secrets;
  /** Returns the table's time, which a new process has to read; epoch milliseconds. */
  now: () => Promise<number>;
}

/**
 * Turns a request to a custom webhook into jobs. Answers 200 once they are stored and queued, or with the reason why
 * there are none: for some senders, only 200 means delivered. The team's code runs only after the request is verified.
 *
 * @throws {HttpError} 404 for an unknown name, 401 for a request that is not genuine or too old, 503 while the secret
 *   is missing
 */
export async function receiveHook(
  request: RawRequest,
  options: ReceiveHookOptions,
): Promise<APIGatewayProxyStructuredResultV2> {
  const hook = hookAt(request.rawPath, options.custom);
  const secret = await provenSecret(hook, request, options);
  const challenged = challengeAnswer(hook, request, secret);
  if (challenged) {
    options.log.info({ message: 'challenge answered', hook: hook.name });
    return challenged;
  }
  if (secret === undefined) {
    // A passing error, because senders try again, and a person may enter the secret meanwhile.
    throw new HttpError(
      503,
      `automations/${hook.name}.ts has no usable secret yet: enter it with npx partner-relay secrets set hooks/${hook.name}, and send this again`,
    );
  }
  const { name, connection = Object.keys(options.config.connections)[0] ?? '' } = hook;
  const place = {
    connection,
    entity: name,
    summary: 'a request to its webhook',
    cause: { from: 'webhook', id: name, ...traceOf(request.headers) },
  } as const;
  const body = parsedJson(Buffer.from(request.bytes).toString('utf8'));
  const { jobs, ignored, hasFailed } = await acceptCustomJobs(name, place, options, (trigger) => {
    if (body === undefined) return 'its body is not JSON';
    const { body: schema, headers, job } = trigger as WebhookTrigger<unknown, JobInput>;
    const read = ofTeam(() => schema.safeParse(body));
    const named = headers.map((name) => name.toLowerCase()).map((name) => [name, request.headers[name]]);
    if (read.success) return ofTeam(() => job(read.data, Object.fromEntries(named)));
    const { issues } = read.error;
    // Otherwise all events of this sender would be ignored.
    if (isOnlyLong(issues, body))
      throw new Error(
        `a number beyond 2^53 comes as a text of its digits; read it as a text: ${refusedFields(issues)}`,
      );
    return `the request does not match \`body\` in automations/${hook.name}.ts; it differs in: ${refusedFields(issues)}`;
  });
  options.metrics.record({ EventsReceived: 1, EventsTaken: jobs.length > 0 ? 1 : 0 });
  if (hasFailed)
    throw new HttpError(500, `automations/${name}.ts failed on this request; send it again once it is repaired`);
  const repeat = jobs.length > 0 && jobs.every((job) => job.repeat);
  const reason = ignored.join('; ');
  if (reason !== '') options.log.info({ message: 'request ignored', hook: name, reason });
  return jsonAnswer(200, {
    jobs: jobs.map(({ id }) => id),
    ...(jobs.length === 0 ? { ignored: reason } : { repeat }),
  });
}

/**
 * Returns true if a value was refused only because large numbers arrived as texts of digits. Texts in other events may
 * look the same.
 */
const isOnlyLong = (issues: readonly $ZodIssue[], value: unknown): boolean =>
  issues.every((issue) => {
    const at = issue.path.reduce<unknown>((part, name) => Object(part)[name], value);
    if (issue.code === 'invalid_union') return issue.errors.some((one) => one.length > 0 && isOnlyLong(one, at));
    return issue.code === 'invalid_type' && typeof at === 'string' && isLongNumber(at);
  });

const isLongNumber = (text: string) => /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text));

/** @param path `/hooks/<name>`, or `/<name>` with a function URL */
function hookAt(path: string, custom: CustomAutomations): CustomOf<'webhook'> {
  const name = path.replace(/^\/(?:hooks\/)?/, '');
  const found = customOf(custom, 'webhook').find((one) => one.name === name);
  if (found) return found;
  throw new HttpError(404, 'there is no webhook at this path; it is /hooks/<name of its file in automations/>');
}

/**
 * Returns the secret that the sender has proven to know; undefined while the webhook has none.
 * @throws {HttpError} 401
 */
async function provenSecret(
  { name, verify }: CustomOf<'webhook'>,
  request: RawRequest,
  { secrets, now }: ReceiveHookOptions,
): Promise<string | undefined> {
  let isKnown = false;
  let proven: string | undefined;
  await isAcceptedBySecret(secrets, 'hooks', hooksSecret, (all) => {
    const accepted = secretsOf(all, name).filter((secret) => keyOf(verify, secret).length > 0);
    isKnown ||= accepted.length > 0;
    proven = accepted.find((secret) => isGenuine(verify, request, secret));
    return proven !== undefined;
  }).catch((error: unknown) => {
    if (!(error instanceof SecretError)) throw error;
  });
  if (proven === undefined && isKnown) {
    throw new HttpError(
      401,
      `${proofOf(verify, request.headers)} does not prove that the sender knows the secret of hooks/${name}`,
    );
  }
  const late = proven === undefined ? undefined : untimely(verify, request.headers, await now());
  if (late !== undefined)
    throw new HttpError(401, `the time in ${late} is more than ${MAX_SKEW_SECONDS / 60} minutes off`);
  return proven;
}

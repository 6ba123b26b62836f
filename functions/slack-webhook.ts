import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { endingCalls, IN_WEBHOOKS } from '../lib/aws-limits.ts';
import { takesLinkedAccounts } from '../lib/config/settings.ts';
import { openSlackIntake } from '../lib/intake/slack/open-slack-intake.ts';
import { receiveSlack } from '../lib/intake/slack/receive-slack.ts';
import { tellsSilence } from '../lib/intake/slack/tells-silence.ts';
import { type SignedRequest, verifiedBySlack } from '../lib/platforms/slack/requests/verified.ts';
import { ensureTime, openStores, prepare, type Runtime } from '../lib/runtime.ts';
import { httpErrors, rawBody } from '../lib/state/http/function-url.ts';

/** Slack gives up after three seconds, including a cold start and the network. */
const CALLS_END_MS = 2_000;

/** Receives Slack's commands and interactions at a function URL: verifies them, stores any job, and then answers. */
export function createHandler(runtime: Runtime) {
  const { config, log, metrics } = runtime;
  const stores = openStores(runtime, IN_WEBHOOKS);
  const { table, clock, secrets } = stores;
  const intake = config.slack && openSlackIntake({ ...runtime, clock }, config.slack, stores);
  // The key `intake` signs jobs that may act through a linked account. Without linked accounts, it does not exist.
  const names = takesLinkedAccounts(config) ? ['slack', 'intake'] : ['slack'];
  prepare(runtime, stores, names, intake?.admission.prepare);
  return endingCalls(
    middy<SignedRequest, APIGatewayProxyStructuredResultV2>()
      .use(httpErrors(log))
      .use(tellsSilence(config.slack?.command ?? '/pm', log))
      .use(rawBody())
      .use(verifiedBySlack(secrets, () => ensureTime(table, log).then(clock)))
      .handler((request) => receiveSlack(request, { intake, log, metrics })),
    CALLS_END_MS,
  );
}

import { inspect } from 'node:util';
import type { Challenge, hmac, token } from '../lib/triggers/webhook.ts';

/**
 * A tool that sends webhooks, and what an automation writes to accept them. Without `hmac` or `token`, the tool uses
 * Standard Webhooks.
 */
export interface Sender {
  title: string;
  /** The tool's own page about its signatures. */
  docs: string;
  /** Set if that page could not be read, and these values come from other sources. */
  isAssumed?: true;
  hmac?: Parameters<typeof hmac>[0];
  token?: Parameters<typeof token>[0];
  challenge?: Challenge;
  /** The headers that say what happened, if the body does not. */
  headers?: readonly string[];
  /** What else a person must know. */
  note?: string;
}

/** An example of a webhook's address, which some senders sign. */
const ADDRESS = 'https://example.com/hooks/name';

const all = {
  airtable: {
    title: 'Airtable',
    docs: 'https://airtable.com/developers/web/api/webhooks-overview',
    isAssumed: true,
    hmac: { header: 'x-airtable-content-mac', encoding: 'hex', prefix: 'hmac-sha256=', key: 'base64' },
    note: 'the secret is `macSecretBase64`',
  },
  asana: {
    title: 'Asana',
    docs: 'https://developers.asana.com/docs/establish-a-webhook',
    hmac: { header: 'x-hook-signature', encoding: 'hex' },
    challenge: { header: 'x-hook-secret' },
    note: 'the secret is `X-Hook-Secret` in the answer of the request that makes the webhook',
  },
  'azure-devops': {
    title: 'Azure DevOps',
    docs: 'https://learn.microsoft.com/en-us/azure/devops/service-hooks/services/webhooks',
    token: { header: 'authorization' },
    note: 'the secret is `Basic ` and Base64 of `user:password`',
  },
  bitbucket: {
    title: 'Bitbucket',
    docs: 'https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/',
    isAssumed: true,
    hmac: { header: 'x-hub-signature', encoding: 'hex', prefix: 'sha256=' },
    headers: ['x-event-key'],
  },
  buildkite: {
    title: 'Buildkite',
    docs: 'https://buildkite.com/docs/apis/webhooks/pipelines',
    hmac: {
      header: 'x-buildkite-signature',
      encoding: 'hex',
      prefix: 'signature=',
      signs: '{part:timestamp}.{body}',
      time: 'part:timestamp',
    },
    headers: ['x-buildkite-event'],
  },
  calendly: {
    title: 'Calendly',
    docs: 'https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures',
    isAssumed: true,
    hmac: {
      header: 'calendly-webhook-signature',
      encoding: 'hex',
      prefix: 'v1=',
      signs: '{part:t}.{body}',
      time: 'part:t',
    },
  },
  circleci: {
    title: 'CircleCI',
    docs: 'https://circleci.com/docs/outbound-webhooks/',
    hmac: { header: 'circleci-signature', encoding: 'hex', prefix: 'v1=' },
  },
  clerk: { title: 'Clerk', docs: 'https://clerk.com/docs/webhooks/overview' },
  elevenlabs: {
    title: 'ElevenLabs',
    docs: 'https://elevenlabs.io/docs/overview/administration/webhooks',
    hmac: {
      header: 'elevenlabs-signature',
      encoding: 'hex',
      prefix: 'v0=',
      signs: '{part:t}.{body}',
      time: 'part:t',
    },
  },
  gitea: {
    title: 'Gitea',
    docs: 'https://docs.gitea.com/usage/webhooks',
    hmac: { header: 'x-gitea-signature', encoding: 'hex' },
    headers: ['x-gitea-event'],
  },
  gitlab: {
    title: 'GitLab',
    docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
    token: { header: 'x-gitlab-token' },
    headers: ['x-gitlab-event'],
    note: 'with a signing token in place of a secret token, leave `verify` out',
  },
  grafana: {
    title: 'Grafana',
    docs: 'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/',
    hmac: {
      header: 'x-grafana-alerting-signature',
      encoding: 'hex',
      signs: '{header:x-grafana-alerting-timestamp}:{body}',
      time: 'header:x-grafana-alerting-timestamp',
    },
    note: 'enter `X-Grafana-Alerting-Timestamp` as the header of the timestamp',
  },
  hubspot: {
    title: 'HubSpot',
    docs: 'https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation',
    hmac: {
      header: 'x-hubspot-signature-v3',
      encoding: 'base64',
      signs: `POST${ADDRESS}{body}{header:x-hubspot-request-timestamp}`,
      time: 'header:x-hubspot-request-timestamp',
      unit: 'ms',
    },
    note: `write the address of your webhook in place of ${ADDRESS}`,
  },
  intercom: {
    title: 'Intercom',
    docs: 'https://developers.intercom.com/docs/webhooks/webhook-notifications',
    hmac: { header: 'x-hub-signature', encoding: 'hex', prefix: 'sha1=', hash: 'sha1' },
  },
  jira: {
    title: 'Jira',
    docs: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
    isAssumed: true,
    hmac: { header: 'x-hub-signature', encoding: 'hex', prefix: 'sha256=' },
  },
  linear: {
    title: 'Linear',
    docs: 'https://linear.app/developers/webhooks',
    hmac: { header: 'linear-signature', encoding: 'hex' },
  },
  notion: {
    title: 'Notion',
    docs: 'https://developers.notion.com/reference/webhooks',
    hmac: { header: 'x-notion-signature', encoding: 'hex', prefix: 'sha256=' },
    note: 'the secret is `verification_token` of its first request, which the relay does not show',
  },
  openai: { title: 'OpenAI', docs: 'https://platform.openai.com/docs/guides/webhooks' },
  paddle: {
    title: 'Paddle',
    docs: 'https://developer.paddle.com/webhooks/signature-verification',
    hmac: {
      header: 'paddle-signature',
      encoding: 'hex',
      prefix: 'h1=',
      signs: '{part:ts}:{body}',
      time: 'part:ts',
    },
  },
  pagerduty: {
    title: 'PagerDuty',
    docs: 'https://developer.pagerduty.com/docs/verifying-webhook-signatures',
    hmac: { header: 'x-pagerduty-signature', encoding: 'hex', prefix: 'v1=' },
  },
  resend: { title: 'Resend', docs: 'https://resend.com/docs/webhooks/verify-webhooks-requests' },
  sentry: {
    title: 'Sentry',
    docs: 'https://docs.sentry.io/organization/integrations/integration-platform/webhooks/',
    isAssumed: true,
    hmac: { header: 'sentry-hook-signature', encoding: 'hex' },
    headers: ['sentry-hook-resource'],
  },
  shopify: {
    title: 'Shopify',
    docs: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
    hmac: { header: 'x-shopify-hmac-sha256', encoding: 'base64' },
    headers: ['x-shopify-topic'],
  },
  slack: {
    title: 'Slack (events)',
    docs: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
    hmac: {
      header: 'x-slack-signature',
      encoding: 'hex',
      prefix: 'v0=',
      signs: 'v0:{header:x-slack-request-timestamp}:{body}',
      time: 'header:x-slack-request-timestamp',
    },
    challenge: { field: 'challenge', answer: { challenge: '{value}' } },
  },
  stripe: {
    title: 'Stripe',
    docs: 'https://docs.stripe.com/webhooks/signature',
    hmac: {
      header: 'stripe-signature',
      encoding: 'hex',
      prefix: 'v1=',
      signs: '{part:t}.{body}',
      time: 'part:t',
    },
  },
  terraform: {
    title: 'Terraform',
    docs: 'https://developer.hashicorp.com/terraform/cloud-docs/api-docs/notification-configurations',
    isAssumed: true,
    hmac: { header: 'x-tfe-notification-signature', encoding: 'hex', hash: 'sha512' },
  },
  twitch: {
    title: 'Twitch',
    docs: 'https://dev.twitch.tv/docs/eventsub/handling-webhook-events/',
    hmac: {
      header: 'twitch-eventsub-message-signature',
      encoding: 'hex',
      prefix: 'sha256=',
      signs: '{header:twitch-eventsub-message-id}{header:twitch-eventsub-message-timestamp}{body}',
      time: 'header:twitch-eventsub-message-timestamp',
      unit: 'iso',
    },
    challenge: { field: 'challenge' },
    headers: ['twitch-eventsub-message-type'],
  },
  typeform: {
    title: 'Typeform',
    docs: 'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
    hmac: { header: 'typeform-signature', encoding: 'base64', prefix: 'sha256=' },
  },
  vercel: {
    title: 'Vercel',
    docs: 'https://vercel.com/docs/webhooks/webhooks-api',
    isAssumed: true,
    hmac: { header: 'x-vercel-signature', encoding: 'hex', hash: 'sha1' },
  },
  zendesk: {
    title: 'Zendesk',
    docs: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
    hmac: {
      header: 'x-zendesk-webhook-signature',
      encoding: 'base64',
      signs: '{header:x-zendesk-webhook-signature-timestamp}{body}',
      time: 'header:x-zendesk-webhook-signature-timestamp',
      unit: 'iso',
    },
  },
  zoom: {
    title: 'Zoom',
    docs: 'https://developers.zoom.us/docs/api/webhooks/',
    hmac: {
      header: 'x-zm-signature',
      encoding: 'hex',
      prefix: 'v0=',
      signs: 'v0:{header:x-zm-request-timestamp}:{body}',
      time: 'header:x-zm-request-timestamp',
    },
    challenge: { field: 'payload.plainToken', answer: { plainToken: '{value}', encryptedToken: '{hmac}' } },
    note: 'enter the secret before Zoom validates the address',
  },
} as const satisfies Record<string, Sender>;

export type SenderName = keyof typeof all;

/** The senders by the name in `new automation --on webhook:<name>`. */
export const senders: Readonly<Record<SenderName, Sender>> = all;

/** The code that an automation writes for a sender, field by field. */
export function fieldsFor({ hmac, token, challenge, headers }: Sender): string[] {
  const verify = hmac ? `hmac(${code(hmac)})` : token && `token(${code(token)})`;
  return Object.entries({ verify, challenge: challenge && code(challenge), headers: headers && code(headers) }).flatMap(
    ([field, written]) => (written === undefined ? [] : [`${field}: ${written}`]),
  );
}

const code = (value: object) =>
  inspect(value, { depth: null, breakLength: Number.POSITIVE_INFINITY }).replaceAll('[ ', '[').replaceAll(' ]', ']');

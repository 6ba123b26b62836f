import * as z from 'zod/mini';
import { reach } from '../reach.ts';

/** https://docs.slack.dev/reference/methods/apps.manifest.create */
const created = z.object({
  ok: z.literal(true),
  app_id: z.string(),
  credentials: z.object({ signing_secret: z.string() }),
});
const refused = z.object({
  ok: z.literal(false),
  error: z.string(),
  errors: z.optional(z.array(z.object({ message: z.string(), pointer: z.optional(z.string()) }))),
});

/**
 * Creates a Slack app from its manifest.
 *
 * @param token an app configuration token, which lives for twelve hours:
 * https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests
 * @throws {Error} with what Slack says about the manifest or the token
 */
export async function createSlackApp(apiUrl: string, token: string, manifest: object) {
  const response = await reach(`${apiUrl}/apps.manifest.create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ manifest: JSON.stringify(manifest) }),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  const app = created.safeParse(answer);
  if (app.success) {
    return {
      signingSecret: app.data.credentials.signing_secret,
      /** Where a person installs it to the workspace. */
      installUrl: `https://api.slack.com/apps/${encodeURIComponent(app.data.app_id)}/install-on-team`,
    };
  }
  const refusal = refused.safeParse(answer);
  if (!refusal.success) throw new Error(`Slack answers ${response.status} to apps.manifest.create; try again`);
  const details = (refusal.data.errors ?? []).map(({ message, pointer }) => `\n  ${pointer ?? ''} ${message}`);
  const todo = /token|auth/.test(refusal.data.error)
    ? '; generate an app configuration token at https://api.slack.com/apps, under Your App Configuration Tokens'
    : '';
  throw new Error(`Slack does not create the app: ${refusal.data.error}${todo}${details.join('')}`);
}

/** Slack's page with the manifest filled in, where a person confirms it. */
export function prefilledSlackUrl(manifest: object): string {
  return `https://api.slack.com/apps?${new URLSearchParams({ new_app: '1', manifest_json: JSON.stringify(manifest) })}`;
}

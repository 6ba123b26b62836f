import { inMarkup } from '../markup.ts';

/** Where GitHub takes the manifest of an App for that organization, or for the signed-in person. */
export function newAppUrl(github: string, organization: string | undefined): string {
  const owner = organization ? `organizations/${encodeURIComponent(organization)}/` : '';
  return `${github}/${owner}settings/apps/new`;
}

/** GitHub requires an address even for an inactive webhook. */
const NO_WEBHOOK = 'https://example.com/partner-relay';

/**
 * The manifest with the access that the relay needs: events of issues, comments, pull requests and merge queues,
 * comments on them, and checks.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 *
 * @param webhookUrl undefined for an App without a webhook: GitHub sends nothing until someone enters an address
 * @param events that automations take
 * @param redirectUrl where GitHub sends the browser with ?code=…
 */
export function githubAppManifest(
  name: string,
  webhookUrl: string | undefined,
  events: Iterable<string>,
  redirectUrl: string,
) {
  return {
    name,
    url: 'https://docs.github.com/apps',
    hook_attributes: webhookUrl === undefined ? { url: NO_WEBHOOK, active: false } : { url: webhookUrl, active: true },
    redirect_url: redirectUrl,
    public: false,
    default_permissions: {
      issues: 'write',
      pull_requests: 'read',
      metadata: 'read',
      checks: 'write',
      actions: 'read',
      contents: 'read',
      merge_queues: 'read',
    },
    default_events: [...events],
  };
}

/** A page that posts the manifest. GitHub accepts manifests only from a form. */
export function manifestPage(action: string, manifest: object): string {
  const value = inMarkup(JSON.stringify(manifest));
  return `<!doctype html>
<meta charset="utf-8">
<title>Partner Relay: create the GitHub App</title>
<form method="post" action="${inMarkup(action)}">
  <input type="hidden" name="manifest" value="${value}">
  <button>Create the GitHub App</button>
</form>`;
}

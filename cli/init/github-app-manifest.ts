import { inMarkup } from '../markup.ts';

/** Where GitHub takes a manifest for an App of that organization, or of the person who is signed in. */
export function newAppUrl(github: string, organization: string | undefined): string {
  const owner = organization ? `organizations/${encodeURIComponent(organization)}/` : '';
  return `${github}/${owner}settings/apps/new`;
}

/** GitHub wants an address even for a webhook that is off. */
const NO_WEBHOOK = 'https://example.com/partner-relay';

/**
 * The access that the relay needs on GitHub: events of issues, comments, pull requests and merge queues, comments on
 * them, and checks. https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 *
 * @param webhookUrl undefined for an App without a webhook: GitHub then sends it nothing until an address is entered
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

/** A page with the form that GitHub takes a manifest from. GitHub takes it in no other way. */
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

import type { Command } from 'commander';
import type { OpenTarget } from './target.ts';

/** `github-app-manifest`: prints a page that creates the GitHub App with all settings. */
export function addGithubAppCommand(program: Command, open: OpenTarget): void {
  program
    .command('github-app-manifest')
    .description('print a web page that creates the GitHub App, with its webhook, events and permissions set')
    .option('--url <url>', 'the URL of the webhook; by default that of the --stage')
    .option('--name <name>', 'the name of the App, unique on GitHub', 'Partner Relay')
    .option('--org <organization>', 'the organization that owns the App, instead of you')
    .option('--github <url>', 'the URL of a GitHub Enterprise Server', 'https://github.com')
    .option('--json', 'print only the manifest')
    .addHelpText(
      'after',
      `
  npm run -s relay -- --stage prod github-app-manifest > github-app.html

Open the page in a browser and confirm. Then copy the code from the address that GitHub redirects you to:

  npm run -s relay -- --stage prod secrets from-github <code>`,
    )
    .action(async (options: { url?: string; name: string; org?: string; github: string; json?: boolean }) => {
      const manifest = githubAppManifest(options.name, options.url ?? (await open()).githubWebhookUrl);
      const owner = options.org ? `organizations/${encodeURIComponent(options.org)}/` : '';
      const action = `${options.github}/${owner}settings/apps/new`;
      console.log(options.json ? JSON.stringify(manifest, null, 2) : page(action, manifest));
    });
}

/**
 * The minimum access that the relay needs on GitHub: events of issues, comments and pull requests, and comments on
 * them. https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
function githubAppManifest(name: string, webhookUrl: string) {
  return {
    name,
    url: 'https://docs.github.com/apps',
    hook_attributes: { url: webhookUrl, active: true },
    // GitHub redirects to this address with ?code=…. No page is needed there.
    redirect_url: 'http://localhost/partner-relay',
    public: false,
    default_permissions: { issues: 'write', pull_requests: 'read', metadata: 'read' },
    default_events: ['issues', 'issue_comment', 'pull_request'],
  };
}

/** GitHub accepts a manifest only from a form. */
function page(action: string, manifest: object): string {
  const value = JSON.stringify(manifest).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html>
<meta charset="utf-8">
<title>Partner Relay: create the GitHub App</title>
<form method="post" action="${action.replaceAll('"', '&quot;')}">
  <input type="hidden" name="manifest" value="${value}">
  <button>Create the GitHub App</button>
</form>`;
}

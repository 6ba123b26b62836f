import type { Command } from 'commander';
import type { OpenTarget } from './target.ts';

/** `github-app-manifest`: a page that makes the GitHub App with everything set. */
export function addGithubAppCommand(program: Command, open: OpenTarget): void {
  program
    .command('github-app-manifest')
    .description('print a web page that makes the GitHub App, with its webhook, events and permissions set')
    .option('--url <url>', 'of the webhook; by default that of the --stage')
    .option('--name <name>', 'of the App, unique on GitHub', 'Partner Relay')
    .option('--org <organisation>', 'that owns the App, instead of yourself')
    .option('--github <url>', 'of a GitHub Enterprise Server', 'https://github.com')
    .option('--json', 'print the manifest alone')
    .addHelpText(
      'after',
      `
  npm run -s relay -- --stage prod github-app-manifest > github-app.html

Open the page in a browser, agree, and copy the code from the address that GitHub leads to:

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
 * What the relay needs of GitHub, and no more: to hear of issues, comments and pull requests, and to comment on them.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
function githubAppManifest(name: string, webhookUrl: string) {
  return {
    name,
    url: 'https://docs.github.com/apps',
    hook_attributes: { url: webhookUrl, active: true },
    // GitHub leads back here with ?code=…, and there is nothing to see.
    redirect_url: 'http://localhost/partner-relay',
    public: false,
    default_permissions: { issues: 'write', pull_requests: 'read', metadata: 'read' },
    default_events: ['issues', 'issue_comment', 'pull_request'],
  };
}

/** GitHub takes a manifest by a form only. */
function page(action: string, manifest: object): string {
  const value = JSON.stringify(manifest).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html>
<meta charset="utf-8">
<title>Partner Relay: make the GitHub App</title>
<form method="post" action="${action.replaceAll('"', '&quot;')}">
  <input type="hidden" name="manifest" value="${value}">
  <button>Make the GitHub App</button>
</form>`;
}

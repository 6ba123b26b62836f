import { randomBytes } from 'node:crypto';
import { listenForCallback } from '../loopback.ts';
import { githubAppManifest, manifestPage, newAppUrl } from './github-app-manifest.ts';
import { checkStore, fetchApp, keptAppOf, type NewApp, storeApp } from './store-github-app.ts';

/** Time for a person to read the App's permissions, and perhaps to sign in. */
const CONFIRMED_WITHIN_MS = 15 * 60_000;

export interface GithubAppToCreate extends NewApp {
  name: string;
  organization: string | undefined;
  /** `https://github.com`, or a GitHub Enterprise Server. */
  github: string;
  /** Undefined for an App with its webhook off. */
  webhookUrl: string | undefined;
  /** The events that automations take. */
  events: Iterable<string>;
  /** Opens the page for the person, or prints its address. */
  openPage: (url: string) => void;
}

/**
 * Creates a GitHub App from its manifest: a page on this machine posts the manifest, GitHub asks the person to confirm,
 * and sends the browser back with a code.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 *
 * If an earlier attempt created the App but did not store its keys, it continues with that App.
 *
 * @returns the address where the App is installed on repositories
 * @throws {Error} that says what to do
 */
export async function createGithubApp(app: GithubAppToCreate): Promise<string> {
  await checkStore(app);
  const kept = keptAppOf(app.stage);
  if (kept) return storeApp(kept, app);
  const state = randomBytes(24).toString('base64url');
  const loopback = await listenForCallback(0, '/callback');
  try {
    const manifest = githubAppManifest(app.name, app.webhookUrl, app.events, loopback.redirectUri);
    const back = loopback.callback(state, CONFIRMED_WITHIN_MS, 'run npx partner-relay init --keep again');
    app.openPage(loopback.serve(manifestPage(`${newAppUrl(app.github, app.organization)}?state=${state}`, manifest)));
    const code = (await back).get('code');
    if (!code) throw new Error('GitHub sent no code back: create the App again with npx partner-relay init --keep');
    return await storeApp(await fetchApp(code, app), app);
  } finally {
    await loopback.close();
  }
}

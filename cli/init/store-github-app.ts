import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../lib/text.ts';
import { readOwnJson, writeOwnFile } from '../../local/own-file.ts';
import { STATE_FOLDER } from '../../local/state.ts';
import { reach } from '../reach.ts';
import type { SecretStore } from '../secret-store.ts';

/** https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest */
const conversion = z.object({
  id: z.int(),
  pem: z.string(),
  webhook_secret: z.nullable(z.string()),
  html_url: z.url(),
});

type CreatedApp = z.output<typeof conversion>;

/** The secrets that hold a new App's keys. */
const SECRETS = ['github-webhook', 'github'] as const;

/** Where the keys of a new App come from, and where they are stored. */
export interface NewApp {
  apiUrl: string;
  store: SecretStore;
  stage: string | undefined;
}

/** Returns the App of an earlier attempt that got its keys but could not store them. */
export function keptAppOf(stage: string | undefined): CreatedApp | undefined {
  const todo = 'remove it, delete the App at GitHub, and create it again';
  return readOwnJson(fileOf(stage), conversion, todo);
}

const fileOf = (stage: string | undefined) => join(STATE_FOLDER, `github-app-${stage ?? 'this-machine'}.json`);

/** Runs before an App is created. @throws {Error} if its keys could not be stored */
export const checkStore = ({ store }: NewApp) => store.check(SECRETS);

/**
 * Gets the keys of a new App, and keeps them in a file until they are stored: a code works only once.
 *
 * @param code from the address that GitHub redirects to
 */
export async function fetchApp(code: string, { apiUrl, stage }: NewApp): Promise<CreatedApp> {
  const file = fileOf(stage);
  // Check that the file is writable before the code is used up.
  writeOwnFile(file, '');
  const text = await convert(apiUrl, code).catch((error: unknown) => {
    rmSync(file);
    throw error;
  });
  writeOwnFile(file, text);
  const app = keptAppOf(stage);
  if (app) return app;
  throw new Error('GitHub sent no keys of the App: delete it at GitHub, and create it again');
}

/**
 * Stores the keys of a new App.
 *
 * @returns the address where the App is installed on repositories
 * @throws {Error} that says what to do; running the command again continues
 */
export async function storeApp(app: CreatedApp, { store, stage }: NewApp): Promise<string> {
  const file = fileOf(stage);
  try {
    if (app.webhook_secret !== null) await store.put('github-webhook', { webhookSecret: app.webhook_secret });
    await store.put('github', { appId: String(app.id), privateKey: app.pem });
  } catch (cause) {
    const why = messageOf(cause);
    throw new Error(
      `the App is created, but its keys could not be stored: ${why}. They are kept in ${file}: run npx partner-relay ` +
        'init --keep --github-app again to store them, or remove the file to give them up',
      { cause },
    );
  }
  rmSync(file);
  return `${app.html_url}/installations/new`;
}

async function convert(apiUrl: string, code: string): Promise<string> {
  const response = await reach(`${apiUrl}/app-manifests/${encodeURIComponent(code)}/conversions`, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'partner-relay' },
  });
  if (response.ok) return response.text();
  throw new Error(`GitHub answers ${response.status}: a code is valid for one hour and one use; create the App again`);
}

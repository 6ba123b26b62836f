import { relative, resolve } from 'node:path';
import { inspect } from 'node:util';

/** What the first configuration is made of. */
export interface FirstSettings {
  /** `acme/web` */
  repository: string;
  labels: readonly string[];
  projectId: string;
  withSlack: boolean;
  /** For GitHub Enterprise Server. */
  githubApiUrl?: string | undefined;
  /** For GovSlack. */
  slackApiUrl?: string | undefined;
}

const SCHEMA = resolve(import.meta.dirname, '../../lib/config/schema.ts');

/**
 * The text of a configuration file, formatted as `npm run fix` would.
 *
 * @param folder where the file will be
 */
export function firstConfig(settings: FirstSettings, folder: string): string {
  const { repository, labels, projectId, withSlack, githubApiUrl, slackApiUrl } = settings;
  const path = relative(folder, SCHEMA);
  const slack = [...(slackApiUrl === undefined ? [] : [`apiUrl: ${inspect(slackApiUrl)}`]), "connection: 'main'"];
  return `import { defineConfig } from ${inspect(path.startsWith('.') ? path : `./${path}`)};

/** What Partner Relay does for this team. docs/configuration.md lists every setting. */
export default defineConfig({
  connections: { main: {} },
  github: {${githubApiUrl === undefined ? '' : `\n    apiUrl: ${inspect(githubApiUrl)},`}
    repositories: [
      {
        name: ${inspect(repository)},
        connection: 'main',
        issueToDefect: {
          labels: [${labels.map((label) => inspect(label)).join(', ')}],
          projectId: ${inspect(projectId)},
        },
        completeChecklistItem: true,
        relate: true,
        logTime: true,
      },
    ],
  },
${withSlack ? `  slack: { ${slack.join(', ')} },\n` : ''}});
`;
}

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

/** The text of a configuration file, formatted as the examples of the guides. */
export function firstConfig(settings: FirstSettings): string {
  const { repository, labels, projectId, withSlack, githubApiUrl, slackApiUrl } = settings;
  const slack = [...(slackApiUrl === undefined ? [] : [`apiUrl: ${inspect(slackApiUrl)}`]), "connection: 'main'"];
  return `import { defineConfig } from 'partner-relay';

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

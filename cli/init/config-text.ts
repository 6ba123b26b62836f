import { inspect } from 'node:util';

/** The settings of the first configuration. */
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

/** Returns the text of a configuration file, in the format of the guides' examples. */
export function firstConfig(settings: FirstSettings): string {
  const { repository, labels, projectId, withSlack, githubApiUrl, slackApiUrl } = settings;
  const slack = [...(slackApiUrl === undefined ? [] : [`apiUrl: ${inspect(slackApiUrl)}`]), "connection: 'main'"];
  return `import { defineConfig } from 'partner-relay';

/** What Partner Relay does for this team. docs/configuration.md of the package lists every setting. */
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

/** Returns the text of the tests beside the configuration. */
export function firstTests({ labels: [label = 'bug'] }: FirstSettings): string {
  return `import { defineTests } from 'partner-relay/test';

// docs/guides/change-the-configuration.md of the package explains the fields.
export default defineTests({
  ${inspect(`an issue with the label ${label} becomes a defect`)}: {
    event: { event: 'issues', labels: [${inspect(label)}] },
    makes: { 'defects/create': { title: /Spelling error/ } },
  },
  'an issue without a label becomes nothing': {
    event: { event: 'issues', labels: [] },
    makes: 'nothing',
  },
  'a comment completes a checklist item': {
    event: { body: '/done 101' },
    makes: { 'work-items/checklist/items/complete': { item_id: 101, is_completed: true } },
  },
});
`;
}

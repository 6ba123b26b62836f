import { defineConfig } from 'partner-relay';

/**
 * What Partner Relay does for this team. Start with your repository in place of the one below, which is that of
 * GitHub's own example events, and with the id of your project.
 */
export default defineConfig({
  connections: {
    main: {},
  },
  github: {
    repositories: [
      {
        name: 'Codertocat/Hello-World',
        connection: 'main',
        issueToDefect: {
          labels: ['bug'],
          projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01',
          type: { default: 'Bug', labels: { documentation: 'Documentation' } },
          priority: { default: 'Medium', labels: { urgent: 'High', 'nice to have': 'Low' } },
          severity: { default: 'Major', labels: { crash: 'Critical', typo: 'Minor' } },
        },
        completeChecklistItem: true,
        relate: true,
        logTime: true,
        checkPullRequest: { exemptLabels: ['no task'] },
        tests: {
          workflows: ['ci.yml'],
          artifacts: ['junit', 'junit-*'],
          status: { passed: 'passed', failed: 'failed' },
          coverage: true,
          defects: { projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01', type: 'Bug' },
        },
      },
    ],
  },
  slack: {
    connection: 'main',
    channels: { C0GENERAL: { projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01' } },
  },
  // Which user of the service a login on GitHub is.
  people: [{ github: 'Codertocat', email: 'mira.novak@example.com' }],
  contactChannel: 'C0PLATFORM',
  timesheets: {
    // Sends nothing to people. Take it out once the jobs say what you expect. The local stand-in gets messages anyway.
    dryRun: true,
    teams: [
      {
        name: 'platform',
        connection: 'main',
        timeZone: 'Europe/Berlin',
        remindAt: '16:30',
        hours: { mon: 8, tue: 8, wed: 8, thu: 8, fri: 8 },
        people: 'all',
        // The user of an API key works no hours.
        partTime: [{ email: 'integration@example.com', hours: {} }],
        summary: { channel: 'C0PLATFORM' },
      },
    ],
  },
});

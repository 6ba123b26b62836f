import { defineTests } from 'partner-relay/test';

// The ids of items and the names of tasks are those of the sandbox: partner-relay sandbox items, partner-relay sandbox tasks.
export default defineTests({
  'an urgent bug becomes a defect with priority High': {
    event: { event: 'issues', labels: ['bug', 'urgent'] },
    makes: { 'defects/create': { title: /Spelling error/, priority: 'High', severity: 'Major' } },
  },
  'a question becomes nothing': {
    event: { event: 'issues', labels: ['question'] },
    makes: 'nothing',
  },
  'a comment completes a checklist item': {
    event: { body: '/done 101' },
    makes: { 'work-items/checklist/items/complete': { item_id: 101, is_completed: true } },
  },
  'a comment logs time for its author': {
    event: { body: '/log 45m "Login with passkeys" wrote tests' },
    makes: { 'timelogs/create': { hours: 0.75, note: /wrote tests/ } },
  },
  'a merged pull request completes the checklist items that it names': {
    event: { merged: true, body: 'Completes checklist items 102 and 103' },
    makes: { 'work-items/checklist/items/complete': [{ item_id: 102 }, { item_id: 103 }] },
  },
  'a pull request that is closed without a merge completes nothing': {
    event: { event: 'pull_request', action: 'closed', body: 'Completes checklist item 102' },
    makes: 'nothing',
  },
});

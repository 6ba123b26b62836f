import { defineTests } from '../local/trial/define-tests.ts';

// The ids of items and the names of tasks are those of the sandbox: relay sandbox items, relay sandbox tasks.
export default defineTests({
  'a comment completes a checklist item': {
    event: { body: '/done 101' },
    makes: { 'work-items/checklist/items/complete': { item_id: 101, is_completed: true } },
  },
  'a comment logs time for its author': {
    event: { body: '/log 45m "Login with passkeys" wrote tests' },
    makes: { 'timelogs/create': { hours: 0.75, note: /wrote tests/ } },
  },
});

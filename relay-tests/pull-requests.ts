import { defineTests } from '../local/trial/define-tests.ts';

export default defineTests({
  'a merged pull request completes the checklist items that it names': {
    event: { merged: true, body: 'Completes checklist items 102 and 103' },
    makes: { 'work-items/checklist/items/complete': [{ item_id: 102 }, { item_id: 103 }] },
  },
  'a pull request that is closed without a merge completes nothing': {
    event: { event: 'pull_request', action: 'closed', body: 'Completes checklist item 102' },
    makes: 'nothing',
  },
});

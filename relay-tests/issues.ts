import { defineTests } from '../local/trial/define-tests.ts';

export default defineTests({
  'an urgent bug becomes a defect with priority High': {
    event: { event: 'issues', labels: ['bug', 'urgent'] },
    makes: { 'defects/create': { title: /Spelling error/, priority: 'High', severity: 'Major' } },
  },
  'a question becomes nothing': {
    event: { event: 'issues', labels: ['question'] },
    makes: 'nothing',
  },
});

import type { JobAction } from './requests.ts';

export type Do = JobAction['do'];

/** The texts of a decision, for the person who makes it. */
interface DecisionText {
  label: string;
  title: (many: string) => string;
  /** What the decision will do. */
  will: string;
  confirm: (many: string) => string;
  asks?: { label: string; hint: string };
  isGrave?: boolean;
}

/** The texts of all decisions, for the pages and the command line. */
export const described: Readonly<Record<Do, DecisionText>> = {
  replay: {
    label: 'Replay',
    title: (many) => `Replay ${many}?`,
    will: 'The job continues where it stopped. Completed steps are not repeated.',
    confirm: (many) => `Replay ${many}`,
  },
  answer: {
    label: 'Answer',
    title: () => 'Answer the question of this job',
    will: 'The job continues with your answer.',
    confirm: () => 'Continue with this answer',
    asks: { label: 'Answer', hint: 'The history of the job keeps it.' },
  },
  discard: {
    label: 'Discard',
    title: (many) => `Discard ${many}?`,
    will: 'The job ends without the rest, and the relay tells the person who asked. What was already done stays. If the defect exists, the next change of its issue finds it. Anything else would be created again with the next request.',
    confirm: (many) => `Discard ${many}`,
    asks: {
      label: 'Reason',
      hint: 'The history of the job keeps it. A person who asked in Slack reads it; a comment on GitHub does not show it.',
    },
    isGrave: true,
  },
  done: {
    label: 'It exists',
    title: () => 'It exists: enter its id',
    will: 'The job continues with this id, and creates nothing. The relay first checks that it exists and has the marker of the job, if the service can show that.',
    confirm: () => 'Continue with this id',
    asks: { label: 'Id in the service', hint: 'As the service shows it, for example in the address of its page.' },
  },
  again: {
    label: 'Create it again',
    title: (many) => `Create again for ${many}?`,
    will: 'The relay searches once more. If it finds nothing, it creates it again. If it exists where the relay does not look, there will be two.',
    confirm: (many) => `Create again for ${many}`,
    isGrave: true,
  },
  search: {
    label: 'Search once more',
    title: (many) => `Search once more for ${many}?`,
    will: 'The relay searches the service once more, and creates nothing.',
    confirm: (many) => `Search once more for ${many}`,
  },
};

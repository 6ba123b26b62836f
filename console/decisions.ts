import type { JobAction } from './requests.ts';

export type Do = JobAction['do'];

/** A decision about jobs, as the person who makes it reads it. */
interface DecisionText {
  label: string;
  title: (many: string) => string;
  /** What it will do. */
  will: string;
  confirm: (many: string) => string;
  asks?: { label: string; hint: string };
  isGrave?: boolean;
}

/** The decisions in words, for the pages and the command line. */
export const described: Readonly<Record<Do, DecisionText>> = {
  replay: {
    label: 'Replay',
    title: (many) => `Replay ${many}?`,
    will: 'Each job continues where it stopped. Steps that are done are not repeated.',
    confirm: (many) => `Replay ${many}`,
  },
  answer: {
    label: 'Answer',
    title: () => 'Answer the question of this job',
    will: 'The job continues with your answer. It reads the words, and the history of the job keeps them.',
    confirm: () => 'Continue with this answer',
    asks: { label: 'Answer', hint: 'The reason of the job has the question.' },
  },
  discard: {
    label: 'Discard',
    title: (many) => `Discard ${many}?`,
    will: 'Each job ends as not done, and the person who asked is told. What its steps have already done stays. If the defect of an issue turns out to exist, the next change of the issue finds it. Anything else that exists stays too, and who asks again gets a second one.',
    confirm: (many) => `Discard ${many}`,
    asks: {
      label: 'Reason',
      hint: 'It is kept in the history of the job. A person who asked in Slack reads it; a comment on GitHub does not have it.',
    },
    isGrave: true,
  },
  done: {
    label: 'It exists',
    title: () => 'It exists: enter its id',
    will: 'The job continues with this id as the result of the step. The service is asked whether it exists and holds the marker of the job, unless it cannot show such things.',
    confirm: () => 'Continue with this id',
    asks: { label: 'Id in the service', hint: 'As the service shows it, for example in the address of its page.' },
  },
  again: {
    label: 'Create it again',
    title: (many) => `Create again for ${many}?`,
    will: 'The service is searched once more. If nothing is found, it is created again: if it exists where the relay does not look, there will be two.',
    confirm: (many) => `Create again for ${many}`,
    isGrave: true,
  },
  search: {
    label: 'Search once more',
    title: (many) => `Search once more for ${many}?`,
    will: 'The service is searched for the marker of each creation. Nothing is created.',
    confirm: (many) => `Search once more for ${many}`,
  },
};

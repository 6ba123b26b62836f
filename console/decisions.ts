import type { JobAction } from './requests.ts';

export type Do = JobAction['do'];

/** The texts of a decision, for the person who makes it. `{jobs}` stands for the jobs: `this job`, `3 jobs`. */
interface DecisionText {
  label: string;
  title: string;
  /** What the decision will do. */
  will: string;
  confirm: string;
  asks?: { label: string; hint: string };
  isGrave?: boolean;
}

/** The texts of all decisions, for the command line and the pages, which read them from the server. */
export const described: Readonly<Record<Do, DecisionText>> = {
  replay: {
    label: 'Replay',
    title: 'Replay {jobs}?',
    will: 'The job continues where it stopped, if its connection works. Completed steps are not repeated.',
    confirm: 'Replay {jobs}',
  },
  answer: {
    label: 'Answer',
    title: 'Answer the question of this job',
    will: 'The job continues with your answer.',
    confirm: 'Continue with this answer',
    asks: { label: 'Answer', hint: 'The history of the job keeps it.' },
  },
  discard: {
    label: 'Discard',
    title: 'Discard {jobs}?',
    will: 'The rest is left out, and what was done stays. If a person asked with a command, the relay tells them. If the job created something and the same is asked again, the relay creates it again, except the defect of an issue and what an automation creates for a key.',
    confirm: 'Discard {jobs}',
    asks: {
      label: 'Reason',
      hint: 'The history of the job keeps it. A person who asked in Slack reads it; a comment on GitHub does not show it.',
    },
    isGrave: true,
  },
  done: {
    label: 'It exists',
    title: 'It exists: enter its id',
    will: 'The job continues with this id, and creates nothing. The relay first checks that it exists and has the marker of the job, if the service can show that.',
    confirm: 'Continue with this id',
    asks: { label: 'Id in the service', hint: 'As the service shows it, for example in the address of its page.' },
  },
  again: {
    label: 'Create it again',
    title: 'Create it again for {jobs}?',
    will: 'If the relay can search for it, it searches once more. It creates only what it does not find. If one exists that a search does not show, there will be two.',
    confirm: 'Create it again for {jobs}',
    isGrave: true,
  },
  search: {
    label: 'Search once more',
    title: 'Search once more for {jobs}?',
    will: 'The relay searches the service once more, and creates nothing.',
    confirm: 'Search once more for {jobs}',
  },
};

import type { WaitsFor } from './history.ts';
import type { ParkKind } from './job.ts';

/**
 * What a wait means: `what` it waits for, for operators, and `toPerson` for the person who asked. The reasons that
 * operators see name operations, keys and connections, which say nothing to that person.
 */
export const waitInWords: Readonly<Record<WaitsFor, { what: string; toPerson: string }>> = {
  budget: {
    what: 'the budget',
    toPerson: 'the service is busy',
  },
  retry: {
    what: 'the next attempt',
    toPerson: 'the service did not do it at the first try, and is asked again',
  },
  answer: {
    what: 'a check whether the service created it',
    toPerson: 'the service did not answer, and the relay first finds out whether this was done',
  },
  'late call': {
    what: 'the time after which the service carries out no earlier request',
    toPerson: 'it is set now, and once more later, because an earlier request got no answer and may still arrive',
  },
  outage: {
    what: 'an outage to end',
    toPerson: 'the service cannot be reached properly at the moment',
  },
  key: {
    what: 'another key',
    toPerson: 'an administrator has to replace the key with which the relay uses the service',
  },
  job: { what: 'another job', toPerson: 'another request has to finish first' },
  pause: { what: 'its time', toPerson: 'its turn has not come yet' },
  operator: { what: 'an operator', toPerson: 'it has to be looked at' },
};

/**
 * Why a job was parked: `toPerson`, a sentence for the person who asked and for public places, and what `helps`, for operators. What helps
 * with an unknown outcome depends on the operation: lib/engine/line/next-step.ts.
 */
export const parkingInWords: Readonly<Record<ParkKind, { toPerson: string; helps?: string; docs: string }>> = {
  refused: {
    toPerson: 'This could not be done: the service refuses it.',
    helps:
      'The service refused it: correct what the reason names, in the issue, in relay.config.ts or in the service, then replay the job. Or discard it.',
    docs: 'docs/stuck.md#refused',
  },
  'outcome unknown': {
    toPerson: 'The service did not answer, so this may or may not have been done.',
    docs: 'docs/stuck.md#unknown-outcome',
  },
  failed: {
    toPerson: 'This could not be done: it failed several times.',
    helps: 'Every attempt failed: replay the job when the cause in the reason is gone, or discard it.',
    docs: 'docs/stuck.md#failed',
  },
  'needs an operator': {
    toPerson: 'This could not be done: the relay needs to be looked at.',
    helps: 'It cannot continue by itself: correct what the reason names, then replay the job. Or discard it.',
    docs: 'docs/stuck.md#needs-an-operator',
  },
};

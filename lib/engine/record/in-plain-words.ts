import type { WaitsFor } from './history.ts';
import type { ParkKind } from './job.ts';

/**
 * A wait in words. `what` follows *waits* and is for operators; `toPerson` is for {@link waitToPerson}, because the
 * reasons of operators name operations, keys and connections.
 */
export const waitInWords: Readonly<Record<WaitsFor, { what: string; toPerson: string }>> = {
  budget: {
    what: 'for the budget',
    toPerson: 'the service takes no more calls for now',
  },
  retry: {
    what: 'for the next attempt',
    toPerson: 'the first attempt failed, and Partner Relay tries again',
  },
  answer: {
    what: 'to check whether it was created',
    toPerson:
      'the service gave no clear answer, so Partner Relay checks whether this was done, and does not do it twice',
  },
  'late call': {
    what: 'for an earlier request that may still arrive',
    toPerson: 'an earlier request may still arrive, so Partner Relay repeats yours later to be sure',
  },
  outage: {
    what: 'for an outage to end',
    toPerson: 'the service cannot do this at the moment',
  },
  key: {
    what: 'for a new key',
    toPerson: "{contact} has to replace Partner Relay's key",
  },
  job: { what: 'for another job', toPerson: 'another request has to finish first' },
  question: { what: 'for an answer in Slack', toPerson: 'it needs an answer in Slack' },
  pause: { what: 'for a planned time', toPerson: 'its time has not come yet' },
  operator: { what: 'for an operator', toPerson: '{contact} has to look at it' },
};

/** @param contact the contact, as Slack or GitHub writes the name */
export function waitToPerson(waitsFor: WaitsFor, contact: string): { why: string; next: string } {
  const why = waitInWords[waitsFor].toPerson.replace('{contact}', () => contact);
  const [then, when] = waitsFor === 'outage' ? ['', ' when the service works again'] : [' then', ''];
  return { why, next: `Your request${then} continues by itself${when}.` };
}

/** @param name of the job, which the contact needs */
export function parkedToPerson(kind: ParkKind, name: string, contact: string): string {
  const next =
    kind === 'outcome unknown'
      ? 'will check and decide. Do not ask again before that, or it may be done twice.'
      : 'can see why and continue it.';
  return `${parkingInWords[kind].toPerson} It is saved as job ${name}, and ${contact} ${next}`;
}

/**
 * Why a job was parked. `toPerson` is for the person who asked, and for public places; `helps` is for operators. For an
 * unknown outcome, lib/engine/line/next-step.ts says it.
 */
export const parkingInWords: Readonly<Record<ParkKind, { toPerson: string; helps?: string; docs: string }>> = {
  refused: {
    toPerson: 'This could not be done: the service refused it.',
    helps:
      'The service refused the call. Correct what the reason names, in the issue, in relay.config.ts, in automations/ or in the service. Then replay the job, or discard it.',
    docs: 'docs/stuck.md#refused',
  },
  'outcome unknown': {
    toPerson: 'The service gave no clear answer, so this may or may not have been done.',
    docs: 'docs/stuck.md#unknown-outcome',
  },
  failed: {
    toPerson: 'This could not be done: it failed several times.',
    helps: 'Every attempt failed. Replay the job when the cause in the reason is gone, or discard it.',
    docs: 'docs/stuck.md#failed',
  },
  'needs an operator': {
    toPerson: 'This cannot continue yet: an administrator has to look at it.',
    helps: 'It cannot continue by itself. Correct what the reason names, then replay the job, or discard it.',
    docs: 'docs/stuck.md#needs-an-operator',
  },
};

import type { WaitsFor } from './history.ts';
import type { ParkKind } from './job.ts';

/**
 * What a wait means for the person who asked. The reasons that operators see name operations, keys and connections,
 * which say nothing to them.
 */
export const waitForPerson: Readonly<Record<WaitsFor, string>> = {
  budget: 'the service accepts a limited number of calls, and other requests are ahead of yours',
  retry: 'the service did not do it at the first try, and is asked again',
  answer:
    'the service did not say whether it did it, and the relay finds that out first, so that nothing is done twice',
  'late call':
    'it is set, but an older request for the same may still be carried out, so it is set once more after that',
  outage: 'the service cannot be reached properly at the moment',
  key: 'the service no longer accepts the key of the relay, which an operator has to replace',
  job: 'another request has to finish first',
  pause: 'its turn has not come yet',
  operator: 'it has to be looked at',
};

/** Why something was not done, for the person who asked and for public places. */
export const parkForPerson: Readonly<Record<ParkKind, string>> = {
  refused: 'the service refuses it',
  'outcome unknown': 'it is not known whether the service carried it out',
  failed: 'it failed several times',
  'needs an operator': 'the relay needs to be looked at',
};

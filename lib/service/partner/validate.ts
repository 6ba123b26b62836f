import { openData, openRecord, operation, reads } from './operation.ts';

/** Checks the key and the encryption without touching data: returns the decrypted payload. */
export const validate = operation({
  name: 'validate',
  evidence: 'documented',
  ...reads,
  payload: openRecord,
  data: openData,
});

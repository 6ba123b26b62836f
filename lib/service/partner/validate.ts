import { openData, openRecord, operation } from './operation.ts';

/** Checks the key and the encryption without touching data: returns the decrypted payload. */
export const validate = operation({
  name: 'validate',
  evidence: 'documented',
  effect: 'read',
  success: 200,
  payload: openRecord,
  data: openData,
});

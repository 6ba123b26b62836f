import { isDeepStrictEqual } from 'node:util';

/** Every JSON type and non-ASCII text, to detect an encryption that changes the payload. */
const ECHO = { relay: 'credentials', text: 'Grüße ✓ "\\/', number: 1.5, none: null, list: [true, { deep: [] }] };

/** The service answers, but not as the partner API does. */
export class OtherEcho extends Error {
  override readonly name = 'OtherEcho';
}

/**
 * Has the service decrypt a payload and return it, which proves that key, encryption and signature are right
 * (docs/partner-api.md#operations).
 *
 * @param validate calls the operation of that name
 * @returns what it proves
 * @throws {OtherEcho} if it returns something else, and what `validate` throws
 */
export async function compareEcho(validate: (payload: typeof ECHO) => Promise<{ data: unknown }>): Promise<string> {
  const { data } = await validate(ECHO);
  if (isDeepStrictEqual(data, ECHO)) {
    return 'validate returned the payload unchanged: key, encryption and signature are correct';
  }
  throw new OtherEcho(
    'validate answers, but does not return the payload that was sent; check that the base URL is that of the partner API',
  );
}

import * as z from 'zod/mini';
import { API_KEY, API_KEY_EXPECTED } from '../../service/partner/encryption.ts';

const text = z.string().check(z.minLength(1));

/**
 * The `instance/<connection>` secrets: the address of an instance. This is all that account-link, which strangers can
 * reach, can read about a connection.
 */
export const instanceSecret = z.object({
  /** Scheme and host of the instance. */
  baseUrl: text,
  /** `true` allows a plain http base URL outside loopback. `partnerRoot` explains the risk. */
  allowInsecureHttp: z.optional(z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })])),
});

/** The `partner/<connection>` secrets. */
export const partnerSecret = z.extend(instanceSecret, {
  apiKey: z.string().check(z.regex(API_KEY, API_KEY_EXPECTED)),
  secretKey: text,
});

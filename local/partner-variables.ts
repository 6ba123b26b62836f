/** An instance and its key, from the environment. */
export interface PartnerVariables {
  baseUrl: string;
  apiKey: string;
  secretKey: string;
  allowInsecureHttp?: boolean | undefined;
}

/**
 * Reads `PARTNER_BASE_URL`, `PARTNER_API_KEY` and `PARTNER_SECRET_KEY`, and `PARTNER_ALLOW_INSECURE_HTTP`, which must
 * be `true` for an instance without https in a network that you trust.
 *
 * @returns undefined if none of them is set
 * @throws {Error} if only some are set; the message names the missing ones
 */
export function partnerFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): PartnerVariables | undefined {
  const names = ['PARTNER_BASE_URL', 'PARTNER_API_KEY', 'PARTNER_SECRET_KEY'] as const;
  const [baseUrl, apiKey, secretKey] = names.map((name) => environment[name]);
  if (baseUrl && apiKey && secretKey) {
    const allowInsecureHttp = environment.PARTNER_ALLOW_INSECURE_HTTP === 'true';
    return { baseUrl, apiKey, secretKey, ...(allowInsecureHttp && { allowInsecureHttp }) };
  }
  const missing = names.filter((name) => !environment[name]);
  if (missing.length === names.length) return undefined;
  throw new Error(`${missing.join(' and ')} must be set too, to reach an instance of the service`);
}

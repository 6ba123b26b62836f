import type { SendOutcome } from '../../decide.ts';
import {
  type PartnerError,
  PartnerPayloadError,
  PartnerRefusal,
  PartnerUnanswered,
} from '../../service/partner/errors.ts';

/** A gateway in front of the service gave up waiting for the request or for the service (RFC 9110, section 15.5.9). */
const TIMED_OUT = 408;

/** The outcome that an error of the partner API stands for. */
export function outcomeOf(error: PartnerError): SendOutcome {
  if (error instanceof PartnerUnanswered) return error.sent ? 'no answer' : 'not sent';
  if (error instanceof PartnerPayloadError) return 'invalid';
  // Also applies if a gateway in front of the service answers with its own page.
  if (error.status === 429) return 'rate limited';
  if (!(error instanceof PartnerRefusal)) return 'unreadable';
  if (error.status < 300) return 'contradictory';
  if (error.status >= 500 || error.status === TIMED_OUT) return 'server error';
  if (error.status === 404) return 'not found';
  if (error.status === 403) return 'forbidden';
  if (error.status !== 401) return 'invalid';
  return error.reason === null || error.reason === 'unknown' ? 'unauthorized' : error.reason;
}

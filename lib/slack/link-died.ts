import { deathInWords } from '../grants/errors.ts';
import type { Grant } from '../grants/grant.ts';
import type { Reply } from '../jobs/steps.ts';
import { linkMessage } from './link-messages.ts';
import { type DirectMessagesOptions, slackMessage } from './replies.ts';

/**
 * Tells a person that their linked account cannot be used any more, why, and with a button to link it again. It is said
 * once for each grant if it is a step of the job for which `Grants.mayTell` is true.
 */
export function linkDied(
  { connection, holder, version }: Grant,
  death: NonNullable<Grant['death']>,
  options: DirectMessagesOptions,
): Reply<unknown> {
  const why = `Your linked account on ${connection} cannot be used any more: ${deathInWords(death)}.`;
  return slackMessage({ userId: holder.id }, `link died ${version}`, linkMessage(why, connection), options);
}

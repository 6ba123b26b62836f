import type * as z from 'zod';
import { type Sent, sendOnce } from '../../send-once.ts';
import type { Result } from '../../service/partner/answer.ts';
import { PartnerError } from '../../service/partner/errors.ts';
import { isRefusal, outcomeOf } from '../record/decide.ts';
import type { Sending, SendOptions, Turn } from './sending.ts';

/**
 * Sends a partner call and says whether it may be carried out.
 * @param wasOpen true if an earlier send may be; a refusal says nothing about that one
 */
export function sendJudged<D extends z.ZodType>(
  sending: Sending,
  { turn, wasOpen, ...options }: SendOptions & { turn: Turn; wasOpen: boolean },
  call: () => Promise<Result<z.output<D>>>,
): Promise<Sent<Result<z.output<D>>>> {
  return sendOnce(wasOpen, ({ leaves, refused }) =>
    sending
      .send<D>(turn, options, () => {
        leaves();
        return call();
      })
      .catch((error) => {
        if (error instanceof PartnerError && isRefusal(outcomeOf(error))) refused();
        throw error;
      }),
  );
}

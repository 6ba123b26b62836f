/** The result of one send, with what it returned or the error that it ended with. `open`: it may be carried out. */
export type Sent<T> = { became: 'accepted'; result: T } | { became: 'not carried out' | 'open'; error: unknown };

/**
 * Where it is written that a request may have left, so that every later run finds it there.
 * @typeParam Way what it is sent with, if that is known only then
 * @typeParam Request what is sent, if it is made only then
 */
export interface Mark<Way = void, Request = void> {
  /** Writes that the request may leave, unless it is already written for this way. If this throws, it is not sent. */
  write(way: Way): Promise<Request>;
  /** Writes that it was not carried out. */
  erase(error: unknown): Promise<void>;
}

/** How a send says what happens to its request. */
export interface Leaving<Way = void, Request = void> {
  /** Called when the slot of the request, or a later slot, is due. The request leaves only after this. */
  mayLeave(way: Way): Promise<Request>;
  /** A request that may carry out the call leaves now. */
  leaves(): void;
  /** That request was explicitly refused, or certainly never left. */
  refused(): void;
}

/**
 * Sends a call that must not be carried out twice. Nothing else decides what an error says about such a call: once a
 * request may have left, only an explicit refusal shows that it was not carried out. Any other error, also an unexpected
 * one of the relay's own code, leaves that open.
 *
 * @param wasOpen true if an earlier send may have been carried out; a refusal says nothing about that one
 */
export async function sendOnce<T, Way, Request>(
  mark: Mark<Way, Request>,
  wasOpen: boolean,
  send: (leaving: Leaving<Way, Request>) => Promise<T>,
): Promise<Sent<T>> {
  let isOpen = wasOpen;
  let isMarked = false;
  const leaving: Leaving<Way, Request> = {
    async mayLeave(way) {
      const request = await mark.write(way);
      isMarked = true;
      return request;
    },
    leaves() {
      isOpen = true;
    },
    refused() {
      isOpen = wasOpen;
    },
  };
  try {
    return { became: 'accepted', result: await send(leaving) };
  } catch (error) {
    if (isOpen) return { became: 'open', error };
    if (isMarked) await mark.erase(error);
    return { became: 'not carried out', error };
  }
}

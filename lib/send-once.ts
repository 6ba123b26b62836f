/** The result of one send, with its answer or its error. `open`: the call may be carried out. */
export type Sent<T> = { became: 'accepted'; result: T } | { became: 'not carried out' | 'open'; error: unknown };

/**
 * Records that a request may have left, where every later run finds it.
 * @typeParam Way the means of sending, if only the send itself knows it
 * @typeParam Request the request, if only the mark makes it
 */
export interface Mark<Way = void, Request = void> {
  /**
   * Records that the request may leave, unless it is recorded for this way already. If this throws, nothing is sent.
   */
  write(way: Way): Promise<Request>;
  /** Records that the request was not carried out. */
  erase(error: unknown): Promise<void>;
}

/** The functions by which a send reports on its request. */
export interface Leaving<Way = void, Request = void> {
  /** Call this when the request's slot, or a later slot, is due. The request may leave only after it. */
  mayLeave(way: Way): Promise<Request>;
  /** Call this when a request leaves that may carry out the call. */
  leaves(): void;
  /** Call this if that request was explicitly refused, or certainly never left. */
  refused(): void;
}

/**
 * Sends a call that must not be carried out twice. Only this function decides what an error says about such a call:
 * once a request may have left, only an explicit refusal shows that it was not carried out. Any other error leaves the
 * outcome open, even an unexpected error in the relay's own code.
 *
 * @param wasOpen true if an earlier send may have been carried out; a refusal says nothing about that send
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

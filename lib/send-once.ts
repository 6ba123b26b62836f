/** What one send of a call showed, with its result or the error that it ended with. `open`: it may be carried out. */
export type Sent<T> = { became: 'accepted'; result: T } | { became: 'not carried out' | 'open'; error: unknown };

/** How a send says what happens to its request. */
export interface Leaving {
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
export async function sendOnce<T>(wasOpen: boolean, send: (leaving: Leaving) => Promise<T>): Promise<Sent<T>> {
  let isOpen = wasOpen;
  const leaving: Leaving = {
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
    return { became: isOpen ? 'open' : 'not carried out', error };
  }
}

const LEAST_GAP_MS = 700;

/**
 * Runs something at once, and again for calls that come meanwhile, but never twice at a time and never more often than
 * every 700 ms: a screen is up to date within a second, however fast its data changes.
 */
export function paced(run: () => Promise<void>): { (): void; stop(): void } {
  let isBusy = false;
  let isWanted = false;
  let isStopped = false;
  const call = async () => {
    isWanted = true;
    if (isBusy) return;
    isBusy = true;
    while (isWanted && !isStopped) {
      isWanted = false;
      await run();
      await new Promise((resolve) => setTimeout(resolve, LEAST_GAP_MS));
    }
    isBusy = false;
  };
  return Object.assign(() => void call(), {
    stop() {
      isStopped = true;
    },
  });
}

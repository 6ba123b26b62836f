import { state } from './state.ts';

/** The time in epoch milliseconds, updated each second while the page is visible. */
export const now = state(Date.now());

export function startClock(): void {
  const tick = () => {
    if (!document.hidden) now.value = Date.now();
  };
  setInterval(tick, 1000);
  document.addEventListener('visibilitychange', tick);
}

import { Icon } from './icons.tsx';
import { state, useValue } from './state.ts';

interface Notice {
  text: string;
  isBad: boolean;
}

const notice = state<Notice | undefined>(undefined);
const GOOD_STAYS_MS = 8_000;

/** Says what came of a change: on the screen, and to a screen reader. Bad news stays until it is closed. */
export function announce(text: string, isBad = false): void {
  const said = { text, isBad };
  notice.value = said;
  if (isBad) return;
  setTimeout(() => {
    if (notice.value === said) notice.value = undefined;
  }, GOOD_STAYS_MS);
}

export function Notices() {
  const said = useValue(notice);
  return (
    <div class="notices" role="status" aria-live="polite">
      {said && (
        <div class={said.isBad ? 'notice bad' : 'notice'}>
          <p class="lines">{said.text}</p>
          <button
            type="button"
            class="icon-only"
            aria-label="Close the message"
            onClick={() => (notice.value = undefined)}
          >
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}

import type { ActionOutcome } from '../requests.ts';
import { Icon } from './icons.tsx';
import { seen } from './outside.tsx';
import { jobHref, route } from './route.ts';
import { state, useValue } from './state.ts';

interface Toast {
  text: string;
  isBad: boolean;
  /** The ids of the jobs that the notice is about. */
  jobs: readonly string[];
}

const notice = state<Toast | undefined>(undefined);
const GOOD_STAYS_MS = 8_000;

/** Shows the result of a change, also to screen readers. Bad news stays until a person closes it. */
export function announce(text: string, isBad = false, jobs: readonly string[] = []): void {
  const said = { text, isBad, jobs };
  notice.value = said;
  if (isBad) return;
  setTimeout(() => {
    if (notice.value === said) notice.value = undefined;
  }, GOOD_STAYS_MS);
}

/** Copies a text, and confirms it. @param what names the text, if the browser refuses to copy */
export function copy(text: string, what: string, said: string): void {
  void navigator.clipboard.writeText(text).then(
    () => announce(said),
    () => announce(`The browser does not let the console copy. Select and copy the ${what}.`, true),
  );
}

/** Says what the relay did. */
export function announceOutcome({ text, jobs }: ActionOutcome): void {
  announce(seen(text), false, jobs);
}

export function Notices() {
  const said = useValue(notice);
  const { id: shown } = useValue(route);
  return (
    <div class="notices" role="status" aria-live="polite">
      {said && (
        <div class={said.isBad ? 'notice bad' : 'notice'}>
          <p>
            <span class="lines">{said.text}</span>
            {said.jobs
              .filter((id) => id !== shown)
              .map((id) => (
                <a key={id} class="to-job" href={jobHref(id)}>
                  {said.jobs.length === 1 ? 'Open the job' : <code>{id}</code>}
                </a>
              ))}
          </p>
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

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ActionOutcome, RelayAction } from '../requests.ts';
import { type ApiError, post } from './api.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';
import { announceOutcome } from './notice.tsx';
import { useRelay } from './relay-facts.tsx';

interface QuestionProps {
  title: string;
  confirm: string;
  isGrave?: boolean | undefined;
  /** Throws an {@link ApiError} if the relay refuses. The dialog then stays open. */
  send: () => Promise<void>;
  close: () => void;
  /** What the change will do, and the fields to fill in. */
  children: ComponentChildren;
}

/** Asks before a change. */
export function Question({ title, confirm, isGrave, send, close, children }: QuestionProps) {
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  return (
    <Dialog title={title} close={close}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          setSending(true);
          setError(undefined);
          try {
            await send();
          } catch (caught) {
            setError(caught as ApiError);
            setSending(false);
          }
        }}
      >
        {children}
        {error && <Failure error={error} />}
        <div class="actions end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class={isGrave ? 'grave' : 'primary'} disabled={isSending}>
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ActionButtonProps {
  label: string;
  /** By default the label with a question mark. */
  title?: string;
  isGrave?: boolean;
  action: () => RelayAction;
  done?: (said: ActionOutcome) => void;
  children: ComponentChildren;
}

/** A change that is not about jobs. A read-only console does not show it. */
export function ActionButton({ label, title, isGrave, action, done, children }: ActionButtonProps) {
  const { operate } = useRelay();
  const [isAsked, setAsked] = useState(false);
  if (!operate) return null;
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        {label}…
      </button>
      {isAsked && (
        <Question
          title={title ?? `${label}?`}
          confirm={label}
          isGrave={isGrave}
          close={() => setAsked(false)}
          send={async () => {
            const said = await post<ActionOutcome>('/api/operate', action());
            setAsked(false);
            announceOutcome(said);
            done?.(said);
          }}
        >
          {children}
        </Question>
      )}
    </>
  );
}

interface TypedProps {
  label: string;
  value: string;
  change: (value: string) => void;
  hint?: string;
}

/** A text field. */
export function Typed({ label, value, change, hint }: TypedProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        required
        value={value}
        maxLength={300}
        spellcheck={false}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

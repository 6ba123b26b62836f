import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

const TYPING_PAUSE_MS = 250;

/** A text field whose value takes effect when the person pauses. */
export function useTyped(value: string, change: (value: string) => void) {
  const [typed, setTyped] = useState(value);
  // When a value takes effect, the person may already have typed more.
  const entered = useRef(value);
  useEffect(() => {
    if (value !== entered.current) setTyped(value);
    entered.current = value;
  }, [value]);
  useEffect(() => {
    const next = typed.trim();
    if (next === entered.current) return;
    const timer = setTimeout(() => {
      entered.current = next;
      change(next);
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return {
    value: typed,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => setTyped(currentTarget.value),
  };
}

interface SearchProps {
  label: string;
  placeholder: string;
  value: string;
  change: (value: string) => void;
}

/** The search field of a list, which `/` focuses. */
export function SearchBox({ label, placeholder, value, change }: SearchProps) {
  const typed = useTyped(value, change);
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={placeholder}
        spellcheck={false}
        data-filter
        {...typed}
      />
      <span class="key">/</span>
    </div>
  );
}

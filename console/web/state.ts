import { useEffect, useState } from 'preact/hooks';

/** A value that the whole page shares, such as its address. */
export interface State<T> {
  value: T;
  /** Calls the listener after each change. @returns ends it */
  subscribe(listener: () => void): () => void;
}

export function state<T>(initial: T): State<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get value() {
      return current;
    },
    set value(next) {
      if (next === current) return;
      current = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Returns the value, and draws the component again when it changes. */
export function useValue<T>(of: State<T>): T {
  const [, redraw] = useState<T>(of.value);
  useEffect(() => {
    const follow = () => redraw(() => of.value);
    // The value may have changed since the component was drawn.
    follow();
    return of.subscribe(follow);
  }, [of]);
  return of.value;
}

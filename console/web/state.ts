import { useEffect, useState } from 'preact/hooks';

/** A value of the whole page, such as its address. */
export interface State<T> {
  value: T;
  /** @returns what ends it */
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

/** Draws the component again when the value changes. */
export function useValue<T>(of: State<T>): T {
  const [, redraw] = useState<T>(of.value);
  useEffect(() => {
    const follow = () => redraw(() => of.value);
    // It may have changed since it was drawn.
    follow();
    return of.subscribe(follow);
  }, [of]);
  return of.value;
}

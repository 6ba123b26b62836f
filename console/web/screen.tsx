import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** The item that gets the focus back, if the screen shows it again. */
let lastItem: string | undefined;

/** Remembers the item of a list that a person opens, so that the focus returns to it. */
export function rememberItem(item: string | undefined): void {
  lastItem = item;
}

interface ScreenProps {
  /** The name of the page. */
  title: string;
  /** The content of the heading, by default the title. */
  heading?: ComponentChildren;
  /** Shown beside the heading. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** A screen of the console. It takes the focus when it opens, so that screen readers read its name. */
export function Screen({ title, heading = title, aside, children }: ScreenProps) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Partner Relay`;
  }, [title]);
  // Before the browser paints, so that this does not take the focus from an element reached by a quick key.
  useLayoutEffect(() => {
    const item = lastItem && document.querySelector<HTMLElement>(`[data-item="${CSS.escape(lastItem)}"]`);
    if (item) item.focus();
    else if (hasOpened) head.current?.focus({ preventScroll: true });
    hasOpened = true;
  }, []);
  return (
    <>
      <div class="screen-head">
        <h1 ref={head} tabIndex={-1}>
          {heading}
        </h1>
        {aside}
      </div>
      {children}
    </>
  );
}

/** False for the first screen, which leaves the focus where the browser puts it. */
let hasOpened = false;

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** A link or a row that has the focus keeps it, if the screen has it again. */
let lastItem: string | undefined;

/** Remembers which item of a list is opened, so that the focus returns to it. */
export function rememberItem(item: string | undefined): void {
  lastItem = item;
}

interface ScreenProps {
  /** The name of the page. */
  title: string;
  /** What stands in the heading, by default the title. */
  heading?: ComponentChildren;
  /** Beside the heading. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** A screen of the console. It takes the focus when it opens, so that a screen reader says its name. */
export function Screen({ title, heading = title, aside, children }: ScreenProps) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Partner Relay`;
  }, [title]);
  // Before the screen is drawn: a key that is pressed at once must not lose its focus to this.
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

/** The first screen leaves the focus where the browser puts it. */
let hasOpened = false;

import type { ComponentChildren } from 'preact';

/** A section of a screen, with a heading. */
export function Card({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

import type { ComponentChildren } from 'preact';

interface TableProps {
  class?: string;
  /** For screen readers. */
  caption: string;
  /** The headings, with their classes. Only screen readers read a `blank` heading. */
  heads: readonly (string | readonly [text: string, look: string])[];
  children: ComponentChildren;
}

/** A table with a heading for each column. */
export function Table({ class: look, caption, heads, children }: TableProps) {
  return (
    <table class={`cards ${look ?? ''}`}>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {heads.map((head) => {
            const [text, look] = typeof head === 'string' ? [head] : head;
            return (
              <th key={text} scope="col" class={look}>
                {text}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

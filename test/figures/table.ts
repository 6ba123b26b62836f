/** The cells of a row of a Markdown table. */
export type Row = readonly string[];

/** A Markdown table. The first row is its head. */
export function tableOf([head = [], ...rows]: readonly Row[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** `2,492` */
export const amount = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 });

/** `$1,234.50` */
export const dollars = (value: number, maximumFractionDigits = 2) =>
  `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits })}`;

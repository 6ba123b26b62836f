/** One measured number with its target. KB and MB are powers of 1,000. */
export interface Figure {
  name: string;
  unit: '/s' | '/min' | 'ms' | 'KB' | 'MB';
  here: number;
  /** The number of the peer, measured in the same run. */
  peer?: number;
  /** The ratio of the relay to the peer. */
  ratio?: number;
  /** In words. */
  aim: string;
  met: boolean;
}

/** What a part of the bench found. */
export interface Findings {
  figures: Figure[];
  /** What the peer is, and where the time goes. */
  notes: string[];
}

/** A table for people. */
export function table(figures: readonly Figure[]): string {
  const head = ['median', 'here', 'peer', 'ratio', 'aim', 'verdict'];
  const rows = figures.map(({ name, unit, here, peer, ratio, aim, met }) => [
    name,
    amount(here, unit),
    peer === undefined ? '' : amount(peer, unit),
    ratio === undefined ? '' : percent(ratio),
    aim,
    met ? 'met' : 'missed',
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const isNumber = (column: number) => column >= 1 && column <= 3;
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('   ')
      .trimEnd();
  return [line(head), widths.map((width) => '─'.repeat(width)).join('   '), ...rows.map(line)].join('\n');
}

/** `79.7 %` */
export function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(1)} %`;
}

/** `31,480 /s`, `24.3 ms` */
export function amount(value: number, unit: Figure['unit']): string {
  const digits = value < 100 ? 1 : 0;
  const number = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${number} ${unit}`;
}

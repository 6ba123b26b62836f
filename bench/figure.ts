/** One measured number. KB and MB are powers of 1,000. Without a unit, it is a count or a ratio. */
export interface Figure {
  name: string;
  value: number;
  unit?: 'ms' | 's' | 'KB' | 'MB' | '%';
  aim?: { atMost: number } | { atLeast: number };
  /** The parts of the number, or the number of a peer in the same run. */
  detail?: string;
}

export interface Part {
  name: string;
  /** What the part measures, and the peer that it compares with. */
  about: string;
  /** Yields each figure as soon as it is known. */
  measure(options: Options): AsyncIterable<Figure>;
}

export interface Options {
  /** An empty folder for the part, which is removed at the end. */
  folder: string;
  /** Whether to draw docs/budget.svg. */
  write: boolean;
  /** Whether to only try each step, in about a second and without the peers. The figures are then meaningless. */
  isTrial: boolean;
}

export function isMet({ value, aim }: Figure): boolean {
  if (!aim) return true;
  return 'atMost' in aim ? value <= aim.atMost : value >= aim.atLeast;
}

/** `POST to defect, idle   30.5 ms   at most 60 ms   met   answered after 6.3 ms` */
export function inOneLine(figure: Figure): string {
  const { name, value, unit, aim, detail = '' } = figure;
  const verdict = isMet(figure) ? 'met' : 'MISSED';
  const bound =
    aim && ('atMost' in aim ? `at most ${amount(aim.atMost, unit)}` : `at least ${amount(aim.atLeast, unit)}`);
  const judged = bound ? `${bound.padEnd(14)}   ${verdict}` : '';
  return `${name.padEnd(56)}   ${amount(value, unit).padStart(8)}   ${judged.padEnd(23)}   ${detail}`.trimEnd();
}

/** `0.38`, `24.3 ms`, `2,492 KB` */
export function amount(value: number, unit: Figure['unit'] = undefined): string {
  const maximumFractionDigits = value < 10 ? 2 : value < 1_000 ? 1 : 0;
  const number = value.toLocaleString('en', { maximumFractionDigits });
  return unit ? `${number} ${unit}` : number;
}

/** Returns the median, or for an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const below = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  const above = sorted[Math.ceil((sorted.length - 1) / 2)] ?? Number.NaN;
  return (below + above) / 2;
}

/** Returns the median of the pairs' ratios. A slow phase of the machine affects both sides of a pair. */
export function medianRatio(here: readonly number[], peer: readonly number[]): number {
  return median(here.map((value, index) => value / (peer[index] ?? Number.NaN)));
}

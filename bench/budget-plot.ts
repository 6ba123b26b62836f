export interface Series {
  name: string;
  colour: string;
  /** When the service counted each call, in milliseconds since the start. */
  calls: readonly { countedAt?: number }[];
}

const WIDTH = 860;
const HEIGHT = 400;
const PLOT = { left: 64, right: 24, top: 56, bottom: 52 };
const MINUTE = 60_000;
const STEP_MS = 500;
/** Outlined in white, because lines pass behind it. */
const LIMIT_LABEL = 'text-anchor="end" fill="#b00020" stroke="#ffffff" stroke-width="4" paint-order="stroke"';

/** A plot, as SVG, of how many requests the service counted in the minute before each moment. */
export function trailingMinutePlot(series: readonly Series[], minutes: number, limit: number): string {
  const lines = series.map(({ calls, ...about }) => ({ ...about, counts: trailingCounts(calls, minutes * MINUTE) }));
  const top = Math.ceil(Math.max(limit, ...lines.flatMap(({ counts }) => counts)) / 40) * 40 + 10;
  const width = WIDTH - PLOT.left - PLOT.right;
  const height = HEIGHT - PLOT.top - PLOT.bottom;
  const x = (minute: number) => round(PLOT.left + (minute / minutes) * width);
  const y = (count: number) => round(PLOT.top + (1 - count / top) * height);
  const text = (at: [number, number], words: string, more = '') =>
    `<text x="${at[0]}" y="${at[1]}"${more && ` ${more}`}>${words}</text>`;

  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">`,
    `<title>Requests in the trailing minute</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
  ];
  for (let count = 0; count <= top; count += 40) {
    parts.push(`<path d="M${x(0)} ${y(count)}H${x(minutes)}" stroke="#dddddd"/>`);
    parts.push(text([x(0) - 8, y(count) + 4], String(count), 'text-anchor="end" fill="#444444"'));
  }
  for (let minute = 0; minute <= minutes; minute++) {
    parts.push(text([x(minute), y(0) + 20], String(minute), 'text-anchor="middle" fill="#444444"'));
  }
  for (const { colour, counts } of lines) {
    const points = counts.map((count, index) => `${x((index * STEP_MS) / MINUTE)},${y(count)}`);
    parts.push(`<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.6"/>`);
  }
  parts.push(`<path d="M${x(0)} ${y(limit)}H${x(minutes)}" stroke="#b00020" stroke-dasharray="6 4"/>`);
  parts.push(text([x(minutes), y(limit) - 6], `limit: ${limit} in any minute`, LIMIT_LABEL));
  lines.forEach(({ name, colour }, index) => {
    const left = PLOT.left + index * 220;
    parts.push(`<path d="M${left} 38h24" stroke="${colour}" stroke-width="3"/>`, text([left + 32, 42], name));
  });
  parts.push(
    text([PLOT.left, 20], 'Requests that the service counted in the trailing minute', 'font-size="15"'),
    text([round(PLOT.left + width / 2), HEIGHT - 10], 'minutes', 'text-anchor="middle"'),
    `<text transform="translate(18 ${round(PLOT.top + height / 2)}) rotate(-90)" text-anchor="middle">requests</text>`,
    '</svg>',
    '',
  );
  return parts.join('\n');
}

function trailingCounts(calls: Series['calls'], untilMs: number): number[] {
  const times = calls.flatMap(({ countedAt }) => countedAt ?? []).sort((a, b) => a - b);
  const counts: number[] = [];
  let [from, to] = [0, 0];
  for (let at = 0; at <= untilMs; at += STEP_MS) {
    while ((times[to] ?? Number.POSITIVE_INFINITY) <= at) to++;
    while ((times[from] ?? Number.POSITIVE_INFINITY) <= at - MINUTE) from++;
    counts.push(to - from);
  }
  return counts;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

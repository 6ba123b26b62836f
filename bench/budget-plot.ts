interface Line {
  name: string;
  colour: string;
  /** When the service counted each call, in order; milliseconds since the start. */
  countedAt: readonly number[];
}

const WIDTH = 860;
const HEIGHT = 400;
const LEFT = 64;
const RIGHT = 836;
const TOP = 56;
const BOTTOM = 348;
const MINUTE_MS = 60_000;
const STEP_MS = 500;

/** An SVG plot of the number of requests that the service counted in the minute before each moment. */
export function trailingMinutePlot(lines: readonly Line[], minutes: number, limit: number): string {
  const plotted = lines.map((line) => ({ ...line, counts: trailingCounts(line.countedAt, minutes * MINUTE_MS) }));
  const most = Math.max(limit, ...plotted.flatMap(({ counts }) => counts));
  const x = (minute: number) => round(LEFT + (minute / minutes) * (RIGHT - LEFT));
  const y = (count: number) => round(BOTTOM - (count / (most + 20)) * (BOTTOM - TOP));

  const grid = range(0, most, 40).flatMap((count) => [
    `<path d="M${LEFT} ${y(count)}H${RIGHT}" stroke="#dddddd"/>`,
    `<text x="${LEFT - 8}" y="${y(count) + 4}" text-anchor="end" fill="#444444">${count}</text>`,
  ]);
  const axis = range(0, minutes, 1).map(
    (minute) => `<text x="${x(minute)}" y="${BOTTOM + 20}" text-anchor="middle" fill="#444444">${minute}</text>`,
  );
  const curves = plotted.flatMap(({ name, colour, counts }, index) => {
    const points = counts.map((count, step) => `${x((step * STEP_MS) / MINUTE_MS)},${y(count)}`);
    const left = LEFT + index * 220;
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.6"/>`,
      `<path d="M${left} 38h24" stroke="${colour}" stroke-width="3"/><text x="${left + 32}" y="42">${name}</text>`,
    ];
  });
  // The labels have a white outline, because lines pass behind them.
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
<title>Requests in the trailing minute</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
${[...grid, ...axis, ...curves].join('\n')}
<path d="M${LEFT} ${y(limit)}H${RIGHT}" stroke="#b00020" stroke-dasharray="6 4"/>
<text x="${RIGHT}" y="${y(limit) - 6}" text-anchor="end" fill="#b00020" stroke="#ffffff" stroke-width="4" paint-order="stroke">limit: ${limit} in any minute</text>
<text x="${LEFT}" y="20" font-size="15">Requests that the service counted in the trailing minute</text>
<text x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">minutes</text>
<text transform="translate(18 ${(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">requests</text>
</svg>
`;
}

function trailingCounts(times: readonly number[], untilMs: number): number[] {
  return range(0, untilMs, STEP_MS).map((at) => times.filter((time) => time > at - MINUTE_MS && time <= at).length);
}

function range(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

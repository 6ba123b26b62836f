import { count } from '../format.ts';

export interface WindowBar {
  /** What the bar is about, for its title. */
  label: string;
  calls: number;
}

const HEIGHT = 120;
const BARS_HEIGHT = 34;
const TOP = 14;
const WIDTH = 600;

/**
 * The calls of a sliding window against its limit. The line adds up the calls from the oldest to now, so it ends at
 * what the limit is compared with. The bars below are the calls of each part.
 */
export function WindowChart({ title, bars, limit }: { title: string; bars: readonly WindowBar[]; limit: number }) {
  const most = Math.max(1, ...bars.map(({ calls }) => calls));
  const width = WIDTH / Math.max(1, bars.length);
  let sum = 0;
  const sums = bars.map(({ calls }) => {
    sum += calls;
    return sum;
  });
  const top = Math.max(limit, sum);
  const area = HEIGHT - BARS_HEIGHT - TOP;
  const y = (value: number) => TOP + area * (1 - value / top);
  const line = sums.map((value, index) => `H${(index * width).toFixed(1)}V${y(value).toFixed(1)}`).join('');
  return (
    <figure class="window-chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${count(sum)} of ${count(limit)} calls`}
      >
        <path class="area" d={`M0 ${y(0)}${line}H${WIDTH}V${y(0)}Z`} />
        <path class="edge" d={`M0 ${y(0)}${line}H${WIDTH}`} />
        <path class="limit" d={`M0 ${y(limit)}H${WIDTH}`} />
        <path class="base" d={`M0 ${y(0)}H${WIDTH}`} />
        {bars.map(
          ({ label, calls }, index) =>
            calls > 0 && (
              <rect
                key={label}
                class="calls"
                x={index * width + width * 0.12}
                width={width * 0.76}
                y={HEIGHT - ((BARS_HEIGHT - 6) * calls) / most}
                height={((BARS_HEIGHT - 6) * calls) / most}
              >
                <title>{`${label}: ${count(calls)}`}</title>
              </rect>
            ),
        )}
      </svg>
      <figcaption class="soft small">
        <span>{bars[0]?.label}</span>
        <span>
          the line adds up to {count(sum)}; the limit is {count(limit)}
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

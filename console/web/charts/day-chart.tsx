import { count, localTime } from '../format.ts';

const HEIGHT = 120;
const BARS_HEIGHT = 34;
const TOP = 14;
const WIDTH = 600;
const BAR_MS = 10 * 60_000;

/**
 * The calls of the last day against its limit. The line adds up the calls from the oldest to now, so it ends at what the
 * limit is compared with. The bars below are the calls of each ten minutes.
 */
export function DayChart({ calls, limit, at }: { calls: readonly number[]; limit: number; at: number }) {
  const most = Math.max(1, ...calls);
  const width = WIDTH / calls.length;
  let sum = 0;
  const sums = calls.map((some) => {
    sum += some;
    return sum;
  });
  const top = Math.max(limit, sum);
  const area = HEIGHT - BARS_HEIGHT - TOP;
  const y = (value: number) => TOP + area * (1 - value / top);
  const line = sums.map((value, index) => `H${(index * width).toFixed(1)}V${y(value).toFixed(1)}`).join('');
  const beginning = (index: number) => localTime(at - (calls.length - index) * BAR_MS, at);
  return (
    <figure class="day-chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`The last 24 hours: ${count(sum)} of ${count(limit)} calls`}
      >
        <path class="area" d={`M0 ${y(0)}${line}H${WIDTH}V${y(0)}Z`} />
        <path class="edge" d={`M0 ${y(0)}${line}H${WIDTH}`} />
        <path class="limit" d={`M0 ${y(limit)}H${WIDTH}`} />
        <path class="base" d={`M0 ${y(0)}H${WIDTH}`} />
        {calls.map(
          (some, index) =>
            some > 0 && (
              <rect
                key={index}
                class="calls"
                x={index * width + width * 0.12}
                width={width * 0.76}
                y={HEIGHT - ((BARS_HEIGHT - 6) * some) / most}
                height={((BARS_HEIGHT - 6) * some) / most}
              >
                <title>{`${beginning(index)}: ${count(some)}`}</title>
              </rect>
            ),
        )}
      </svg>
      <figcaption class="soft small">
        <span>{beginning(0)}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

import type { JobStatus } from '../../contract.ts';
import { count, hourAndMinute } from '../format.ts';
import { seen } from '../outside.tsx';
import { statusText } from '../status.tsx';

const HEIGHT = 72;
const WIDTH = 600;
const MOST_LABELS = 6;
/** The least height of a bar, at which a single job or call is visible. */
const LEAST = 1.5;

const textOf = (is: Series['is']) => (is === 'calls' ? is : statusText(is).toLowerCase());

interface Series {
  /** The kind, which is also the class of its bars. */
  is: JobStatus | 'calls';
  values: readonly number[];
}

/** Parts of a time as stacked bars, compared with a limit. */
export function BarChart(props: {
  title: string;
  from: number;
  partMs: number;
  series: readonly Series[];
  /** The limit for each part. */
  limit?: number;
  /** By default the kind. */
  unit?: string;
}) {
  const { title, from, partMs, series, limit = 0, unit } = props;
  const parts = series[0]?.values.map((_, index) => series.map(({ is, values }) => ({ is, many: values[index] ?? 0 })));
  const sums = parts?.map((bars) => bars.reduce((sum, { many }) => sum + many, 0)) ?? [];
  const kinds = series.flatMap(({ is, values }) => {
    const all = values.reduce((sum, many) => sum + many, 0);
    return all === 0 && series.length > 1 ? [] : [{ is, text: `${count(all)} ${unit ?? textOf(is)}` }];
  });
  const top = Math.max(limit, ...sums, 1);
  const width = WIDTH / sums.length;
  const step = Math.ceil(sums.length / MOST_LABELS);
  const y = (value: number) => (HEIGHT - 1) * (1 - value / top) + 1;
  const beginning = (index: number) => hourAndMinute(from + index * partMs);
  return (
    <figure class="bar-chart">
      <div class="meter-head">
        <span>{title}</span>
        <ul class="soft">
          {kinds.map(({ is, text }) => (
            <li key={is}>
              <i class={is} /> {text}
            </li>
          ))}
          {limit > 0 && (
            <li>
              <i class="limit" /> at most {count(limit)} per bar
            </li>
          )}
        </ul>
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${seen(title)}, since ${beginning(0)}: ${kinds.map(({ text }) => text).join(', ')}`}
      >
        {parts?.map((bars, index) => {
          let below = 0;
          return bars.map(({ is, many }) => {
            if (many === 0) return null;
            const height = Math.max(LEAST, y(below) - y(below + many));
            below += many;
            return (
              <rect
                key={is}
                class={is}
                x={(index + 0.08) * width}
                width={width * 0.84}
                y={y(below - many) - height}
                height={height}
              >
                <title>{`from ${beginning(index)}: ${count(many)} ${textOf(is)}`}</title>
              </rect>
            );
          });
        })}
        {limit > 0 && <path class="limit" d={`M0 ${y(limit)}H${WIDTH}`} />}
        <path class="base" d={`M0 ${HEIGHT}H${WIDTH}`} />
      </svg>
      <figcaption class="soft small">
        {sums.map((_, index) => index % step === 0 && <span key={index}>{beginning(index)}</span>)}
      </figcaption>
    </figure>
  );
}

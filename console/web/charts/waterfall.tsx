import type { JobDetail, Period, StepDetail } from '../../contract.ts';
import { now } from '../clock.ts';
import { duration, exactTime } from '../format.ts';
import { cut, Line, seen } from '../outside.tsx';
import { useValue } from '../state.ts';
import { Table } from '../table.tsx';
import { At } from '../time.tsx';
import { fillOf, Patterns, periodNames } from './patterns.tsx';
import { type TimeScale, timeScale } from './time-scale.ts';

const GRID = [0.25, 0.5, 0.75];
const BAR_HEIGHT = 14;
const ROW_HEIGHT = 22;

/** Shows how a job used its time: one row for the time between steps, and one for each step. */
export function Waterfall({ job }: { job: JobDetail }) {
  const { periods, steps } = job;
  const isOver = periods.every(({ to }) => to !== undefined);
  const at = useValue(now);
  const until = isOver ? (periods.at(-1)?.to ?? job.createdAt) : at;
  const scale = timeScale(periods, until);
  const rows = [
    { name: 'between steps', periods: periods.filter(({ step }) => step === undefined), step: undefined },
    ...steps
      .filter(isShown)
      .map((step) => ({ name: step.step, periods: periods.filter((period) => period.step === step.step), step })),
  ].filter((row) => row.periods.length > 0);
  return (
    <figure class="waterfall">
      <Patterns />
      <div class="waterfall-rows">
        {rows.map(({ name, periods: own, step }) => (
          <Row key={name} name={name} periods={own} step={step} scale={scale} until={until} />
        ))}
        <Axis periods={periods} scale={scale} until={until} />
      </div>
      <figcaption>
        <Legend periods={periods} until={until} />
        {scale.isShortened && <p class="soft small">Long periods are drawn shorter.</p>}
      </figcaption>
      <PeriodTable periods={periods} until={until} />
    </figure>
  );
}

interface RowProps {
  name: string;
  periods: readonly Period[];
  step: StepDetail | undefined;
  scale: TimeScale;
  until: number;
}

function Row({ name, periods, step, scale, until }: RowProps) {
  const total = timeOf(periods, until);
  return (
    <>
      <div class="row-name">
        {step ? (
          <a href={`#${encodeURIComponent(stepAnchor(name))}`}>
            <Line text={stepTitle(name)} length={60} />
          </a>
        ) : (
          <span class="soft">{name}</span>
        )}
      </div>
      <svg
        class="row-bars"
        height={ROW_HEIGHT}
        width="100%"
        role="img"
        aria-label={`${seen(name)}: ${duration(total)}`}
      >
        {GRID.map((part) => (
          <line key={part} class="grid" x1={percent(part)} x2={percent(part)} y1="0" y2={ROW_HEIGHT} />
        ))}
        {periods.map((period) => (
          <Bar key={period.from} period={period} scale={scale} until={until} />
        ))}
        {step?.sends.map(({ sentAt, answer }, index) => (
          <line
            key={index}
            class={`sent ${answer}`}
            x1={percent(scale.at(sentAt))}
            x2={percent(scale.at(sentAt))}
            y1="1"
            y2={ROW_HEIGHT - 1}
          />
        ))}
      </svg>
      <div class="number">{duration(total)}</div>
    </>
  );
}

function Bar({ period: { from, to, is, why }, scale, until }: { period: Period; scale: TimeScale; until: number }) {
  const begins = scale.at(from);
  const ends = scale.at(to ?? until);
  const what = `${periodNames[is]} for ${duration((to ?? until) - from)}${to === undefined ? ' so far' : ''}`;
  return (
    <rect
      {...fillOf(is)}
      x={percent(begins)}
      width={percent(Math.max(0.002, ends - begins))}
      y={(ROW_HEIGHT - BAR_HEIGHT) / 2}
      height={BAR_HEIGHT}
      rx="2"
    >
      <title>{`${what}${why ? `: ${cut(seen(why), 300)}` : ''}\n${exactTime(from)}`}</title>
    </rect>
  );
}

function Axis({ periods, scale, until }: { periods: readonly Period[]; scale: TimeScale; until: number }) {
  const [first] = periods;
  if (!first) return null;
  return (
    <>
      <div />
      <div class="axis soft">
        <At at={first.from} />
        {GRID.map((part) => (
          <span key={part} class="tick" style={{ left: percent(part) }}>
            +{duration(scale.moment(part) - first.from)}
          </span>
        ))}
        <span>+{duration(until - first.from)}</span>
      </div>
      <div />
    </>
  );
}

/** The kinds of periods of the job, with their total times. */
function Legend({ periods, until }: { periods: readonly Period[]; until: number }) {
  const kinds = Object.keys(periodNames) as Period['is'][];
  return (
    <ul class="legend">
      {kinds.flatMap((is) => {
        const own = periods.filter((period) => period.is === is);
        if (own.length === 0) return [];
        return (
          <li key={is}>
            <svg width="18" height="12" aria-hidden="true">
              <rect {...fillOf(is)} width="18" height="12" rx="2" />
            </svg>
            {periodNames[is]} <span class="number soft">{duration(timeOf(own, until))}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** The periods as text, also for screen readers. */
function PeriodTable({ periods, until }: { periods: readonly Period[]; until: number }) {
  return (
    <details class="as-table">
      <summary>The same as a table</summary>
      <Table caption="Periods of the job, in order" heads={['From', 'Step', 'What', ['Took', 'number'], 'Why']}>
        {periods.map(({ from, to = until, step, is, why }) => (
          <tr key={from}>
            <td>
              <At at={from} />
            </td>
            <td>{step && <Line text={stepTitle(step)} length={60} />}</td>
            <td>{periodNames[is]}</td>
            <td class="number">{duration(to - from)}</td>
            <td>{why && <Line text={why} />}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** The total time of the periods. */
export function timeOf(periods: readonly Period[], until = 0): number {
  return periods.reduce((sum, { from, to = until }) => sum + to - from, 0);
}

/** A step's name without what makes it unique in its job: a digest, the number of the first try, the kind of a wait. */
export const stepTitle = (step: string) =>
  step.replace(/ (?=\d*[a-f])[\da-f]{8}$| 1$/, '').replace(/^(say why it waits): .*/, '$1');

/** False for the steps that only note a time. */
export const isShown = ({ calls }: StepDetail) => calls !== 'clock';

export function stepAnchor(step: string): string {
  return `step ${step}`;
}

const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

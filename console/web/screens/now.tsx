import type { ConnectionNow, LaneNow, Now } from '../../contract.ts';
import { Card } from '../card.tsx';
import { BarChart } from '../charts/bar-chart.tsx';
import { Meter } from '../charts/meter.tsx';
import { Loaded } from '../failure.tsx';
import { count, many } from '../format.ts';
import { JobTable } from '../job-rows.tsx';
import { Line, Text } from '../outside.tsx';
import { ActionButton } from '../question.tsx';
import { useResource } from '../resource.ts';
import { href } from '../route.ts';
import { Schedules } from '../schedules.tsx';
import { Screen } from '../screen.tsx';
import { laneHints, STATUSES, StatusMark, statusText } from '../status.tsx';
import { Table } from '../table.tsx';
import { At, AtAndAway, Coming, Since } from '../time.tsx';
import { NoJobs } from './jobs.tsx';

/** What the relay does at this moment: jobs, connections, waiting lines. */
export function NowScreen() {
  const resource = useResource<Now>('/api/now');
  return (
    <Screen title="Now">
      <Loaded of={resource}>
        {(now) => (
          <>
            {now.stopped && <p class="read-only">{now.stopped}</p>}
            <Counts counts={now.counts} />
            <LastHour of={now} />
            {now.connections.map((connection) => (
              <ConnectionCard key={connection.connection} of={connection} at={now.at} />
            ))}
            <Card id="recent" title="The last jobs">
              {now.recent.length === 0 ? <NoJobs /> : <JobTable rows={now.recent} caption="The last jobs" />}
            </Card>
            <Schedules schedules={now.schedules} />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

const ENDINGS = ['succeeded', 'not-done', 'parked'] as const;

/** What happened, and how much of the limits it used. */
function LastHour({ of: { hour, connections } }: { of: Now }) {
  const { from, partMs, jobs } = hour;
  return (
    <Card id="hour" title="The last hour">
      <div class="charts">
        <BarChart
          {...{ title: 'Jobs', from, partMs, unit: 'jobs ended or parked' }}
          series={ENDINGS.map((is) => ({ is, values: jobs[is] ?? [] }))}
        />
        {connections.map(({ connection, minute, dayCalls }) => (
          <BarChart
            key={connection}
            {...{ title: connection, from, partMs, unit: `of ${count(minute.limit * 60)} calls` }}
            series={[{ is: 'calls', values: dayCalls.slice(-(jobs.succeeded?.length ?? 0)) }]}
            limit={(minute.limit * partMs) / 60_000}
          />
        ))}
      </div>
    </Card>
  );
}

function Counts({ counts }: { counts: Now['counts'] }) {
  return (
    <ul class="tiles" aria-label="Jobs by status">
      {STATUSES.map((status) => {
        const { jobs: number } = counts[status];
        return (
          <li key={status}>
            <a href={status === 'parked' ? href('parked') : href('jobs', undefined, { status })} data-item={status}>
              <StatusMark of={status} text={statusText(status)} />
              <strong class={number === 0 ? 'zero' : status}>{many(counts[status])}</strong>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

/** One line, which opens to the lanes and the day. */
function ConnectionCard({ of, at }: { of: ConnectionNow; at: number }) {
  const { connection, service, minute, day, dayCalls, dayUsedUpAt, stopped, pausedUntil, failing, assumed, lanes } = of;
  const id = `connection-${connection}`;
  return (
    <section class="card connection-card" aria-labelledby={id}>
      <details>
        <summary data-item={connection}>
          <span class="name">
            <strong id={id}>{connection}</strong> {service !== undefined && <Line text={service} />}
          </span>
          <ConnectionState {...of} />
          <Meter label="Last minute" {...minute} />
          <Meter label="Last day" {...day} />
        </summary>
        <div class="beside">
          <div>
            <BarChart
              {...{
                title: 'Last 24 hours',
                from: firstOf(dayCalls, at),
                partMs: HOUR_MS,
                unit: `of ${count(day.limit)} calls`,
              }}
              series={[{ is: 'calls', values: hoursOf(dayCalls) }]}
            />
            <p class="soft small">
              <Forecast at={dayUsedUpAt} />
            </p>
          </div>
          <LaneTable lanes={lanes} connection={connection} />
        </div>
        <p>
          <a href={href('jobs', undefined, { connection })}>Jobs of {connection}</a>
        </p>
      </details>
      {failing !== undefined && stopped.length === 0 && (
        <p>
          Failing: <Text text={failing} length={300} />
        </p>
      )}
      {(stopped.length > 0 || pausedUntil !== null) && <Outages {...of} />}
      {assumed !== null && <Assumed {...assumed} />}
    </section>
  );
}

const HOUR_MS = 3_600_000;
/** The budget counts in parts of this length. */
const PART_MS = HOUR_MS / 6;

/** When the first part began: the last goes on. */
const firstOf = (calls: readonly number[], at: number) => (Math.floor(at / PART_MS) - calls.length + 1) * PART_MS;

/** The calls of each hour, from those of each ten minutes. */
function hoursOf(calls: readonly number[]): number[] {
  return Array.from({ length: 24 }, (_, hour) =>
    calls.slice(hour * 6, hour * 6 + 6).reduce((sum, some) => sum + some, 0),
  );
}

/** When the limit of the day is reached. */
function Forecast({ at }: { at: number | null }) {
  if (at === null) return <>At the pace of the last hour, the day’s limit is not reached.</>;
  return (
    <>
      At the pace of the last hour, the day’s limit is reached at <AtAndAway at={at} />.
    </>
  );
}

/** Whether calls are sent. */
function ConnectionState({ stopped, pausedUntil, refusesKey, failing }: ConnectionNow) {
  if (refusesKey) return <StatusMark of="noKey" />;
  if (stopped.some(({ operation }) => operation === undefined)) return <StatusMark of="stopped" />;
  if (pausedUntil !== null) return <StatusMark of="paused" />;
  if (stopped.length > 0) return <StatusMark of="partly" />;
  return <StatusMark of={failing === undefined ? 'sending' : 'failing'} />;
}

/** The minute's limit is lower than configured. */
function Assumed({ perMinute, since }: NonNullable<ConnectionNow['assumed']>) {
  return (
    <p>
      The service seems to allow {perMinute} calls a minute, since a 429 at <At at={since} />: other software uses the
      key, or its limit is lower.
    </p>
  );
}

/** Why calls are not sent, since when, and until when. */
function Outages({ connection, stopped, pausedUntil }: Omit<ConnectionNow, 'lanes'>) {
  return (
    <>
      <ul class={stopped.some(({ refusesKey }) => refusesKey) ? 'outages bad' : 'outages'}>
        {pausedUntil !== null && (
          <li>
            <strong>Paused by the service</strong> until <AtAndAway at={pausedUntil} />. Jobs keep their order and
            continue by themselves.
          </li>
        )}
        {stopped.map(({ operation, since, why, until, refusesKey }) => (
          <li key={operation ?? ''}>
            <strong>{operation ?? 'The service'}</strong> has{' '}
            {refusesKey ? 'refused the key' : operation === undefined ? 'been down' : 'been failing'} since{' '}
            <At at={since} />: <Text text={why} length={300} />
            <div>
              {refusesKey && (
                <>
                  Enter a new key: <code>npx partner-relay secrets set partner/{connection}</code>. Then jobs continue
                  by themselves.{' '}
                </>
              )}
              The next probe is sent <Coming at={until} past="as soon as a job needs it" />.
            </div>
          </li>
        ))}
      </ul>
      <div class="actions">
        <ActionButton label="Resume" title={`Resume ${connection}?`} action={() => ({ do: 'resume', connection })}>
          <p>The pause ends, and waiting jobs continue now. If the cause remains, the next answers stop them again.</p>
        </ActionButton>
      </div>
    </>
  );
}

const LANE_NUMBERS = ['Can send now', 'Next slot', 'In line', 'In the queue', 'Oldest waits'];

function LaneTable({ lanes, connection }: { lanes: readonly LaneNow[]; connection: string }) {
  return (
    <Table
      class="lanes"
      caption={`Lanes of ${connection}`}
      heads={['Lane', ...LANE_NUMBERS.map((text) => [text, 'number'] as const)]}
    >
      {lanes.map(({ lane, left, nextSlotAt, inLine, oldestSince, queued, queuedSince }) => (
        <tr key={lane}>
          <th scope="row" title={laneHints[lane]}>
            {lane}
          </th>
          {[
            count(left),
            left > 0 ? 'now' : nextSlotAt === null ? 'not known' : <Coming at={nextSlotAt} past="now" />,
            many(inLine),
            many(queued),
            <Oldest of={[oldestSince, queuedSince]} />,
          ].map((shown, index) => (
            <td key={index} class="number" data-label={LANE_NUMBERS[index]}>
              {shown}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Oldest({ of }: { of: readonly (number | null)[] }) {
  const times = of.filter((at) => at !== null);
  return times.length === 0 ? <>–</> : <Since at={Math.min(...times)} />;
}

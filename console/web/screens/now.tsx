import { Fragment } from 'preact';
import type { ConnectionNow, LaneNow, Now } from '../../contract.ts';
import { Card } from '../card.tsx';
import { BarChart } from '../charts/bar-chart.tsx';
import { Meter } from '../charts/meter.tsx';
import { Loaded } from '../failure.tsx';
import { count, many, sentence, waitingJobs } from '../format.ts';
import { JobTable } from '../job-rows.tsx';
import { isBroken, whatFails } from '../outages.tsx';
import { Line, Text } from '../outside.tsx';
import { ActionButton } from '../question.tsx';
import { Fact } from '../readable.tsx';
import { useResource } from '../resource.ts';
import { href } from '../route.ts';
import { Schedules } from '../schedules.tsx';
import { Screen } from '../screen.tsx';
import { laneHints, STATUSES, StatusMark, statusText } from '../status.tsx';
import { Table } from '../table.tsx';
import { Ago, At, AtAndAway, Coming, Since } from '../time.tsx';
import { NoJobs } from './jobs.tsx';

/** The relay at this moment: outages first, then jobs, connections and schedules. */
export function NowScreen() {
  const resource = useResource<Now>('/api/now');
  return (
    <Screen title="Now">
      <Loaded of={resource}>
        {(now) => {
          const [broken, working] = [now.connections.filter(isBroken), now.connections.filter((one) => !isBroken(one))];
          const cards = (some: readonly ConnectionNow[]) =>
            some.map((one) => <ConnectionCard key={one.connection} of={one} now={now} />);
          const held = broken.filter((one) => one.held.jobs > 0).map(({ connection }) => connection);
          const without = held.length > 0 && ` (those that wait for ${held.join(', ')} are above)`;
          return (
            <>
              {now.stopped && <Stopped said={now.stopped} />}
              {cards(broken)}
              <Counts {...now} />
              {cards(working)}
              <LastHour of={now} />
              <Card id="recent" title={`The last jobs${without || ''}`}>
                {now.recent.length > 0 ? (
                  <JobTable rows={now.recent} caption="The last jobs" />
                ) : (
                  <p>{without ? 'There are no others.' : <NoJobs />}</p>
                )}
              </Card>
              <Schedules {...now} />
            </>
          );
        }}
      </Loaded>
    </Screen>
  );
}

/** @param said ends with the command that starts the stage */
function Stopped({ said }: { said: string }) {
  const [, words, command] = /^(.*: )?(.*)$/.exec(said) ?? [];
  return (
    <p class="read-only">
      {words}
      <code>{command}</code>
    </p>
  );
}

const ENDINGS = ['succeeded', 'not-done', 'parked'] as const;

/** How the jobs of the last hour ended, and how much of the limits they used. */
function LastHour({ of: { hour, connections } }: { of: Now }) {
  const { from, partMs } = hour;
  const ended = ENDINGS.map((is) => ({ is, values: hour.jobs[is] ?? [] }));
  const parts = ended[0]?.values.length ?? 0;
  const charts = [
    { title: 'Jobs', series: ended },
    ...connections.map(({ connection, minute, dayCalls }) => ({
      ...{ title: connection, limit: (minute.limit * partMs) / MINUTE_MS },
      series: [{ is: 'calls' as const, values: dayCalls.slice(-parts) }],
    })),
  ].filter(({ series }) => series.some(({ values }) => values.some((many) => many > 0)));
  return (
    <Card id="hour" title="The last hour">
      {charts.length === 0 && <p class="soft">No job has ended, and no call was sent.</p>}
      <div class="charts">
        {charts.map((chart) => (
          <BarChart key={chart.title} {...{ from, partMs }} {...chart} />
        ))}
      </div>
    </Card>
  );
}

function Counts({ at, counts, oldest }: Pick<Now, 'at' | 'counts' | 'oldest'>) {
  return (
    <ul class="tiles" aria-label="Jobs by status">
      {STATUSES.map((status) => {
        const { jobs: number } = counts[status];
        const since = oldest[status] ?? null;
        return (
          <li key={status}>
            <a href={status === 'parked' ? href('parked') : href('jobs', undefined, { status })} data-item={status}>
              <StatusMark of={status} text={statusText(status)} />
              <strong class={number === 0 ? 'zero' : status}>{many(counts[status])}</strong>
              {number > 0 && since !== null && at - since >= MINUTE_MS && (
                <small class="soft">
                  oldest <Ago at={since} />
                </small>
              )}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

/** One line, which opens to show the lanes and the day. */
function ConnectionCard({ of, now }: { of: ConnectionNow; now: Now }) {
  const { connection, service, minute, day, dayCalls, dayUsedUpAt, failing, assumed, lanes } = of;
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
                from: firstOf(dayCalls, now.at),
                partMs: HOUR_MS,
                unit: `of ${count(day.limit)} calls`,
              }}
              series={[{ is: 'calls', values: hoursOf(dayCalls) }]}
            />
            {dayUsedUpAt !== null && (
              <p class="soft small">
                At the pace of the last hour, the day’s limit is reached at <AtAndAway at={dayUsedUpAt} />.
              </p>
            )}
          </div>
          <LaneTable lanes={lanes} connection={connection} />
        </div>
        <p>
          <a href={href('jobs', undefined, { connection })}>Jobs of {connection}</a>
        </p>
      </details>
      {failing !== undefined && !isBroken(of) && (
        <p>
          The last call failed at <At at={failing.at} />. <Text text={sentence(failing.why)} length={300} />
        </p>
      )}
      {isBroken(of) ? <Outage of={of} now={now} /> : <UsedUp lanes={lanes} at={now.at} />}
      {assumed !== null && <Assumed {...assumed} />}
    </section>
  );
}

const HOUR_MS = 3_600_000;
/** The budget counts calls in parts of this length. */
const PART_MS = HOUR_MS / 6;

/** When the first part began. The last part is not over yet. */
const firstOf = (calls: readonly number[], at: number) => (Math.floor(at / PART_MS) - calls.length + 1) * PART_MS;

/** Sums the calls of ten minutes for each hour. */
function hoursOf(calls: readonly number[]): number[] {
  return Array.from({ length: 24 }, (_, hour) =>
    calls.slice(hour * 6, hour * 6 + 6).reduce((sum, some) => sum + some, 0),
  );
}

const MINUTE_MS = 60_000;

/** Says which lanes have used up their calls of the day: their jobs wait longer than the limit per minute requires. */
function UsedUp({ lanes, at }: { lanes: readonly LaneNow[]; at: number }) {
  return lanes
    .filter(({ inLine, left, nextSlotAt }) => inLine.jobs > 0 && left === 0 && (nextSlotAt ?? 0) > at + MINUTE_MS)
    .map(({ lane, inLine, nextSlotAt }) => (
      <p key={lane} class="outage">
        <span>
          <strong>Day’s budget for {lane} used up:</strong> {waitingJobs(inLine)}. Its next call is possible at{' '}
          <AtAndAway at={nextSlotAt ?? at} />.
        </span>
      </p>
    ));
}

/** Whether the connection sends calls. */
function ConnectionState({ stopped, pausedUntil, refusesKey, failing, day }: ConnectionNow) {
  if (refusesKey) return <StatusMark of="noKey" />;
  if (stopped.some(({ operation }) => operation === undefined)) return <StatusMark of="stopped" />;
  if (pausedUntil !== null) return <StatusMark of="paused" />;
  if (stopped.length > 0) return <StatusMark of="partly" />;
  if (failing !== undefined) return <StatusMark of="failing" />;
  return <StatusMark of={day.used === 0 ? 'unused' : 'sending'} />;
}

/** Says that the limit per minute is lower than configured. */
function Assumed({ perMinute, since }: NonNullable<ConnectionNow['assumed']>) {
  return (
    <p>
      Since a 429 at <At at={since} />, the relay sends at most {perMinute} calls a minute: other software uses the key,
      or the key has a lower limit.
    </p>
  );
}

/** An outage: what does not work, since when, what the relay tries, which jobs wait, and what to do. */
function Outage({ of, now }: { of: ConnectionNow; now: Now }) {
  const { connection, stopped, pausedUntil, refusesKey, held } = of;
  const isWhole = stopped.every(({ operation }) => operation === undefined);
  return (
    <div class={refusesKey ? 'outage bad' : 'outage'}>
      {pausedUntil !== null && (
        <p>
          <strong>The service asked {connection} for a pause.</strong> Calls continue by themselves at{' '}
          <AtAndAway at={pausedUntil} />.
        </p>
      )}
      {stopped.map(({ operation, since, why, triedAt, until }) => (
        <Fragment key={operation ?? ''}>
          <p>
            <strong>{whatFails(of, operation)}.</strong> <Text text={sentence(why)} length={300} />
          </p>
          <dl class="facts">
            <Fact name="Since">
              <At at={since} /> (<Since at={since} />)
            </Fact>
            <Fact name="Last try">
              <At at={triedAt} /> (<Ago at={triedAt} />)
            </Fact>
            {!refusesKey && !now.stopped && (
              <Fact name="Next try">
                <Coming at={until} past="with the next waiting or new job that calls it" />
              </Fact>
            )}
          </dl>
        </Fragment>
      ))}
      {held.jobs > 0 && <Held of={held} connection={connection} at={now.at} />}
      {refusesKey && !now.isBrokenInTry ? (
        <p>
          Enter a new key: <code>npx partner-relay secrets set partner/{connection}</code>. If the relay runs on one
          machine, restart it then.{!now.stopped && ' The jobs continue by themselves within five minutes.'}
        </p>
      ) : (
        stopped.length > 0 && (
          <p>
            {!now.stopped && 'The jobs continue by themselves when it works again. '}
            {now.isBrokenInTry ? (
              <>
                You broke the sandbox: <a href={href('try')}>repair it in Try</a>.
              </>
            ) : (
              isWhole && 'If it lasts, ask the people who run the service.'
            )}
          </p>
        )
      )}
      <div class="actions">
        <ActionButton label="Resume" title={`Resume ${connection}?`} action={() => ({ do: 'resume', connection })}>
          <p>The relay sends calls again now. If they still fail, it stops them again.</p>
        </ActionButton>
      </div>
    </div>
  );
}

/** The jobs that wait for one cause, as a row that opens. */
function Held({ of, connection, at }: { of: ConnectionNow['held']; connection: string; at: number }) {
  const { people, oldestSince, rows } = of;
  return (
    <details class="held">
      <summary data-item={`held ${connection}`}>
        <strong>{waitingJobs(of)}</strong>
        {people > 0 && ` · ${count(people)} ${people === 1 ? 'person waits' : 'people wait'} for an answer`}
        {oldestSince !== null && at - oldestSince >= MINUTE_MS && (
          <>
            {' · '}oldest <Ago at={oldestSince} />
          </>
        )}
      </summary>
      <JobTable rows={rows} caption={`Jobs that wait for ${connection}`} />
      {rows.length < of.jobs && (
        <a href={href('jobs', undefined, { status: 'waiting', connection })}>All waiting jobs of {connection}</a>
      )}
    </details>
  );
}

const LANE_NUMBERS = ['Calls left now', 'Next slot', 'In line', 'In the queue', 'Oldest waits'];

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
            left > 0 ? 'now' : nextSlotAt === null ? '–' : <Coming at={nextSlotAt} past="now" />,
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

import type { BudgetDetail } from '../../contract.ts';
import { Card } from '../card.tsx';
import { Meter } from '../charts/meter.tsx';
import { type WindowBar, WindowChart } from '../charts/window-chart.tsx';
import { Loaded } from '../failure.tsx';
import { localTime } from '../format.ts';
import { JobTable } from '../job-rows.tsx';
import { useRelay } from '../relay-facts.tsx';
import { useResource } from '../resource.ts';
import { href } from '../route.ts';
import { Screen } from '../screen.tsx';
import { ConnectionHead, Forecast, LaneTable } from './now.tsx';

/** What a connection has sent, what it may still send, and who waits for it. */
export function BudgetScreen({ connection: asked }: { connection: string | undefined }) {
  const { connections } = useRelay();
  const connection = asked ?? connections[0] ?? '';
  const resource = useResource<BudgetDetail>(`/api/budget?${new URLSearchParams({ connection })}`);
  return (
    <Screen title="Budget">
      {connections.length > 1 && (
        <nav class="chips" aria-label="Connections">
          {connections.map((name) => (
            <a
              key={name}
              href={href('budget', name)}
              aria-current={name === connection ? 'page' : undefined}
              data-item={name}
            >
              {name}
            </a>
          ))}
        </nav>
      )}
      <Loaded of={resource}>{(budget) => <BudgetView budget={budget} />}</Loaded>
    </Screen>
  );
}

function BudgetView({ budget }: { budget: BudgetDetail }) {
  const { connection, minute, day, minuteCalls, dayUsedUpAt, lanes, waiting } = budget;
  const isWaiting = waiting.some(({ jobs }) => jobs.length > 0);
  return (
    <>
      <section class="card" aria-labelledby={`connection-${connection}`}>
        <ConnectionHead of={budget}>{connection}</ConnectionHead>
        <div class="beside even">
          <div>
            <Meter label="Last minute" {...minute} unit="calls" />
            <WindowChart
              title="Last minute"
              limit={minute.limit}
              bars={minuteCalls.map((calls, index) => ({ label: `${minuteCalls.length - index} s ago`, calls }))}
            />
          </div>
          <div>
            <Meter label="Last 24 hours" {...day} unit="calls" />
            <WindowChart title="Last 24 hours" limit={day.limit} bars={barsOfDay(budget)} />
          </div>
        </div>
        <p class="sentence forecast">
          <Forecast at={dayUsedUpAt} />
        </p>
      </section>
      <Card id="lanes" title="Lanes">
        <LaneTable lanes={lanes} connection={connection} />
      </Card>
      <Card id="waiting" title="Who waits">
        {!isWaiting && <p class="soft">No job waits for the budget.</p>}
        {waiting.map(
          ({ lane, jobs }) =>
            jobs.length > 0 && (
              <div key={lane}>
                <h3>{lane}</h3>
                <JobTable rows={jobs} caption={`Jobs that wait in the lane ${lane}`} />
              </div>
            ),
        )}
      </Card>
    </>
  );
}

const BAR_MS = 10 * 60_000;
const BARS = 144;

/** Every ten minutes of the day, also those without a call. */
function barsOfDay({ at, dayCalls }: BudgetDetail): WindowBar[] {
  const first = at - BARS * BAR_MS;
  return Array.from({ length: BARS }, (_, index) => {
    const from = first + index * BAR_MS;
    const own = dayCalls.filter((bucket) => bucket.from >= from && bucket.from < from + BAR_MS);
    return { label: localTime(from, at), calls: own.reduce((sum, { calls }) => sum + calls, 0) };
  });
}

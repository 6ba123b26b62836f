import { useState } from 'preact/hooks';
import type { Now } from '../contract.ts';
import type { ActionOutcome } from '../requests.ts';
import { Card } from './card.tsx';
import { jobs } from './format.ts';
import { Line } from './outside.tsx';
import { ActionButton } from './question.tsx';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { At, Coming } from './time.tsx';

/** Everything that the clock fires, with a button to run it now. */
export function Schedules({ schedules, stopped }: Pick<Now, 'schedules' | 'stopped'>) {
  return (
    <Card id="schedules" title="Schedules">
      <Table
        class="schedules"
        caption="Schedules"
        heads={['Schedule', 'Times', 'Last run', 'Next run', ['Run', 'blank']]}
      >
        {schedules.map((schedule) => (
          <ScheduleRow key={schedule.name} {...schedule} stopped={stopped} />
        ))}
      </Table>
    </Card>
  );
}

type ScheduleRowProps = Now['schedules'][number] & Pick<Now, 'stopped'>;

function ScheduleRow({ name, times, isCustom, takesTime, lastAt, nextAt, stopped }: ScheduleRowProps) {
  const [at, setAt] = useState('');
  const [said, setSaid] = useState<ActionOutcome | undefined>();
  const time = new Date(at).getTime();
  return (
    <tr>
      <th scope="row">
        {isCustom ? <a href={href('jobs', undefined, { automation: name })}>{name}</a> : name}
        {said && <Returned result={said.result} />}
      </th>
      <td class="soft">{times}</td>
      <td data-label="Last run">{lastAt === undefined ? <span class="soft">not yet</span> : <At at={lastAt} />}</td>
      <td data-label="Next run">
        {stopped ? 'after the start of the stage' : nextAt === undefined ? 'never' : <Coming at={nextAt} past="now" />}
      </td>
      <td class="number">
        <ActionButton
          label="Run"
          title={`Run ${name} now?`}
          action={() => ({ do: 'run schedule', schedule: name, ...(!Number.isNaN(time) && { at: time }) })}
          done={setSaid}
        >
          {takesTime ? (
            <label class="field">
              <span>As of</span>
              <input type="datetime-local" value={at} onInput={({ currentTarget }) => setAt(currentTarget.value)} />
              <small>Local time; empty means now.</small>
            </label>
          ) : (
            <p>It also runs at its usual times.</p>
          )}
        </ActionButton>
      </td>
    </tr>
  );
}

/** How many jobs a schedule made, or what its function returned, with the number of entries for a list. */
function Returned({ result }: { result: unknown }) {
  const { jobs: all } = Object(result) as { jobs?: readonly { repeat: boolean }[] };
  const facts = Object.entries(result ?? {}).map(([name, value]) => {
    return `${name}: ${Array.isArray(value) ? value.length : value}`;
  });
  const made = all ? `made ${jobs(all.filter(({ repeat }) => !repeat).length)}` : `returned ${facts.join(', ')}`;
  return (
    <div class="news">
      <Line text={`It ${made}.`} />
    </div>
  );
}

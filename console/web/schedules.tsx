import { useState } from 'preact/hooks';
import type { Now } from '../contract.ts';
import type { ActionOutcome } from '../requests.ts';
import { Card } from './card.tsx';
import { JsonView } from './json-view.tsx';
import { ActionButton } from './question.tsx';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { At, AtAndAway } from './time.tsx';

/** Everything that the clock fires, with a button to run it now. */
export function Schedules({ schedules }: { schedules: Now['schedules'] }) {
  return (
    <Card id="schedules" title="Schedules">
      <Table
        class="schedules"
        caption="Schedules"
        heads={['Schedule', 'Times', 'Last run', 'Next run', ['Run', 'blank']]}
      >
        {schedules.map((schedule) => (
          <ScheduleRow key={schedule.name} {...schedule} />
        ))}
      </Table>
    </Card>
  );
}

function ScheduleRow({ name, times, isCustom, takesTime, lastAt, nextAt }: Now['schedules'][number]) {
  const [at, setAt] = useState('');
  const [said, setSaid] = useState<ActionOutcome | undefined>();
  const time = new Date(at).getTime();
  return (
    <tr>
      <th scope="row">
        {isCustom ? <a href={href('jobs', undefined, { automation: name })}>{name}</a> : name}
        {said && <JsonView name="It returned" value={said.result} />}
      </th>
      <td class="soft">{times}</td>
      <td data-label="Last run">{lastAt === undefined ? <span class="soft">not yet</span> : <At at={lastAt} />}</td>
      <td data-label="Next run">{nextAt === undefined ? 'never' : <AtAndAway at={nextAt} />}</td>
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
              <small>Your local time. Without one, it runs as of now.</small>
            </label>
          ) : (
            <p>It runs once, in addition to its usual times.</p>
          )}
        </ActionButton>
      </td>
    </tr>
  );
}

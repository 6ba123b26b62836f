import { useState } from 'preact/hooks';
import type { RelayFacts } from '../contract.ts';
import type { ActionOutcome } from '../requests.ts';
import { Card } from './card.tsx';
import { JsonView } from './json-view.tsx';
import { ActionButton } from './question.tsx';
import { useRelay } from './relay-facts.tsx';

/** What fires by the clock, and can be run at once. */
export function Schedules() {
  const { schedules } = useRelay();
  return (
    <Card id="schedules" title="Schedules">
      <ul class="plain">
        {schedules.map((schedule) => (
          <ScheduleRow key={schedule.slug} {...schedule} />
        ))}
      </ul>
    </Card>
  );
}

function ScheduleRow({ slug, everyMinutes, takesTime }: RelayFacts['schedules'][number]) {
  const [at, setAt] = useState('');
  const [said, setSaid] = useState<ActionOutcome | undefined>();
  const time = new Date(at).getTime();
  return (
    <li>
      <div class="row">
        <span>
          {slug} <span class="soft">{everyMinutes === 1 ? 'every minute' : `every ${everyMinutes} minutes`}</span>
        </span>
        <ActionButton
          label="Run"
          title={`Run ${slug} now?`}
          action={() => ({ do: 'run schedule', schedule: slug, ...(!Number.isNaN(time) && { at: time }) })}
          done={setSaid}
        >
          {takesTime ? (
            <label class="field">
              <span>As of</span>
              <input type="datetime-local" value={at} onInput={({ currentTarget }) => setAt(currentTarget.value)} />
              <small>In local time. Empty means now.</small>
            </label>
          ) : (
            <p>It works on the current state, as at its usual time.</p>
          )}
        </ActionButton>
      </div>
      {said && <JsonView name="It returned" value={said.result} />}
    </li>
  );
}

import { useState } from 'preact/hooks';
import type { RelayAction } from '../requests.ts';
import { seen } from './outside.tsx';
import { ActionButton, Typed } from './question.tsx';

type LinkChange = 'set link' | 'clear link';

const CHANGES: readonly { is: LinkChange; label: string; will: string }[] = [
  {
    is: 'set link',
    label: 'Use another defect',
    will: 'The relay checks that the defect exists. The next change of the issue updates it.',
  },
  {
    is: 'clear link',
    label: 'Remove the link',
    will: 'The next change of the issue creates a defect if it should have one.',
  },
];

/** Sets or clears the link of an issue. */
export function ChangeLink(props: { issue?: string; defectId?: string | undefined; changed: () => void }) {
  const { issue: known, defectId, changed } = props;
  const [typed, setTyped] = useState('');
  const [chosen, choose] = useState<LinkChange>('set link');
  const [value, setValue] = useState('');
  const [steal, setSteal] = useState(false);
  const issue = known ?? typed.trim();
  const change = CHANGES.find(({ is }) => is === chosen);
  const action = (): RelayAction =>
    chosen === 'set link' ? { do: chosen, issue, defectId: value, steal } : { do: chosen, issue };
  return (
    <ActionButton
      label={known === undefined ? 'Change a link' : 'Change'}
      title={`Change the link of ${known ?? 'an issue'}`}
      isGrave={steal && chosen === 'set link'}
      action={action}
      done={changed}
    >
      {known === undefined && <Typed label="Issue" hint="acme/web#42" value={typed} change={setTyped} />}
      {defectId !== undefined && (
        <p>
          Its defect now: <code>{seen(defectId)}</code>
        </p>
      )}
      <fieldset class="choices">
        <legend class="hidden">What is right</legend>
        {CHANGES.map(({ is, label }) => (
          <label key={is} class="check">
            <input type="radio" name="change" checked={is === chosen} onChange={() => choose(is)} />
            {label}
          </label>
        ))}
      </fieldset>
      {chosen === 'set link' && (
        <>
          <Typed label="Id of the defect" value={value} change={setValue} />
          <label class="check">
            <input type="checkbox" checked={steal} onChange={() => setSteal(!steal)} />
            Share it with another issue or job, if one has it
          </label>
        </>
      )}
      <p>{change?.will}</p>
    </ActionButton>
  );
}

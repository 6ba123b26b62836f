import { useState } from 'preact/hooks';
import type { RelayAction } from '../requests.ts';
import { ActionButton, Typed } from './question.tsx';

type LinkChange = 'set link' | 'clear link';

const CHANGES: readonly { is: LinkChange; label: string; will: string; asks?: string }[] = [
  {
    is: 'set link',
    label: 'It has this defect',
    will: 'The relay checks that the defect exists. The next change of the issue updates it.',
    asks: 'Id of the defect',
  },
  {
    is: 'clear link',
    label: 'It has no defect',
    will: 'The next change of the issue creates one if it should have one.',
  },
];

/** Sets or clears the link of an issue. */
export function ChangeLink({ issue: known, changed }: { issue?: string; changed: () => void }) {
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
      <fieldset class="choices">
        <legend class="hidden">What is right</legend>
        {CHANGES.map(({ is, label }) => (
          <label key={is} class="check">
            <input type="radio" name="change" checked={is === chosen} onChange={() => choose(is)} />
            {label}
          </label>
        ))}
      </fieldset>
      {change?.asks !== undefined && <Typed label={change.asks} value={value} change={setValue} />}
      {chosen === 'set link' && (
        <label class="check">
          <input type="checkbox" checked={steal} onChange={() => setSteal(!steal)} />
          Even if the relay made it for another issue or job
        </label>
      )}
      <p>{change?.will}</p>
    </ActionButton>
  );
}

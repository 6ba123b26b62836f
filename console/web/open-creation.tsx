import type { CreationDetail } from '../contract.ts';
import { Consequences } from './job-actions.tsx';
import { Line, Text } from './outside.tsx';
import { Sends } from './sends.tsx';

/** What is known about a creation without an answer, and what each decision will do. */
export function OpenCreationView({ creation }: { creation: CreationDetail }) {
  const { step, calls, sends, marker, again, forAndAgainst, consequences } = creation;
  return (
    <div class="creation">
      <h3>
        What is known of <Line text={step} length={80} /> <code class="soft">{calls}</code>
      </h3>
      <p class="sentence">
        <Text text={forAndAgainst} />
      </p>
      <Sends sends={sends} />
      {marker !== undefined && (
        <p>
          If it was created, it contains{' '}
          <code class="marker">
            <Line text={marker} />
          </code>
        </p>
      )}
      {again && <p>An operator has already decided to create it again.</p>}
      <h4>What each decision will do</h4>
      <Consequences will={consequences} />
    </div>
  );
}

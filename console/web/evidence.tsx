import type { Evidence } from '../contract.ts';
import { now } from './clock.ts';
import { Consequences } from './job-actions.tsx';
import { Line, Text } from './outside.tsx';
import { Sends } from './sends.tsx';
import { useValue } from './state.ts';
import { At, AtAndAway } from './time.tsx';

/** What is known about a creation without an answer, and what each decision will do. */
export function EvidenceView({ evidence }: { evidence: Evidence }) {
  const { step, calls, sends, marker, searchedFor, searches, mayRunUntil, again, consequences } = evidence;
  const isOpen = mayRunUntil > useValue(now);
  return (
    <div class="evidence">
      <h3>
        What is known of <Line text={step} length={80} /> <code class="soft">{calls}</code>
      </h3>
      <Sends sends={sends} />
      <dl class="facts wide">
        {marker !== undefined && (
          <div>
            <dt>If it was created, it contains</dt>
            <dd>
              <code class="marker">
                <Line text={marker} />
              </code>
            </dd>
          </div>
        )}
        <div>
          <dt>Searched for</dt>
          <dd>
            {searchedFor === undefined ? 'nothing: this creation cannot be searched for' : <Text text={searchedFor} />}
            {searches > 0 && `, ${searches === 1 ? 'once' : `${searches} times`}, and not found`}
          </dd>
        </div>
        <div>
          <dt>The service may still carry it out</dt>
          <dd>
            {isOpen ? (
              <>
                until <AtAndAway at={mayRunUntil} />
              </>
            ) : (
              <>
                no longer, since <At at={mayRunUntil} />
              </>
            )}
          </dd>
        </div>
      </dl>
      {again && <p>An operator has already decided to create it again.</p>}
      <h4>What each decision will do</h4>
      <Consequences will={consequences} />
    </div>
  );
}

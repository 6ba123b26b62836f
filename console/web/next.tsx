import type { CreationDetail, JobDetail } from '../contract.ts';
import { Out } from './id.tsx';
import { JobActions } from './job-actions.tsx';
import { Outages } from './outages.tsx';
import { Line, Text } from './outside.tsx';
import { Sends } from './sends.tsx';

/** What is known about a job that waits for a person or continues later, and the possible decisions. */
export function NextOf({ job, reload }: { job: JobDetail; reload: () => void }) {
  const { id, status, next, news, openCreations } = job;
  return (
    <>
      {openCreations.map((one) => (
        <OpenCreation key={one.step} creation={one} />
      ))}
      <JobActions
        ids={[id]}
        actions={next.actions}
        will={openCreations[0]?.consequences}
        asks={{ done: openCreations[0]?.idLabel, answer: news }}
        isCalm={status === 'waiting'}
        done={reload}
      />
    </>
  );
}

/** Says, once for all decisions of a screen, which job would wait if it continues. */
export function WaitsHere({ connections }: { connections: readonly string[] }) {
  return <Outages of={connections}>{() => 'Jobs that need it wait until this is over.'}</Outages>;
}

/** What is known about a creation without a clear answer. */
function OpenCreation({ creation }: { creation: CreationDetail }) {
  const { step, calls, sends, marker, again, forAndAgainst } = creation;
  return (
    <div class="creation">
      <h3>
        <span>
          What is known about <Line text={step} length={80} />
        </span>
        <code class="soft">{calls}</code>
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
      {again && <p>An operator decided to create it again.</p>}
    </div>
  );
}

/** A sentence, with a link to the page of the documentation that explains more. */
export function NextText({ next: { text, docs } }: { next: JobDetail['next'] }) {
  return (
    <p class="sentence">
      <Text text={text} />
      {docs !== undefined && (
        <>
          {' '}
          <Out to={`/${docs}`}>More about this</Out>
        </>
      )}
    </p>
  );
}

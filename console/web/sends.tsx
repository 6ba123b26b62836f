import type { Send } from '../contract.ts';
import { count, duration } from './format.ts';
import { seen, Text } from './outside.tsx';
import { StatusMark } from './status.tsx';
import { At } from './time.tsx';

/** The requests of a step, in order, with their answers. Repeats with the same result share one row. */
export function Sends({ sends, older = 0 }: { sends: readonly Send[]; older?: number }) {
  if (sends.length === 0) return null;
  return (
    <ol class="sends">
      {older > 0 && <li class="soft">The first {count(older)} sends are no longer kept.</li>}
      {runsOf(sends).map(({ first, last, number, times }) => (
        <li key={number} class={first.answer}>
          <span>
            {whatWasSent(first, older + number - 1)} at <At at={first.sentAt} />
            {times > 1 && (
              <>
                , and {times - 1} more, the last at <At at={last.sentAt} />
              </>
            )}
          </span>
          <span class="answer">
            {/* That a search was answered does not say that it found something. */}
            <StatusMark of={first.calls !== undefined && first.answer === 'accepted' ? 'answered' : first.answer} />
            {first.httpStatus !== undefined && <code>{first.httpStatus}</code>}
            <span class="soft number">after {duration(last.answeredAt - last.sentAt)}</span>
            {first.why !== undefined && (
              <span class="soft">
                <Text text={first.why.replace(STATUS, '')} length={300} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The status, which is shown beside the reason. */
const STATUS = /^(refused with status|the service answers) \d+[,:]? ?/;

/** Groups consecutive sends with the same result, with the number of the first. */
function runsOf(sends: readonly Send[]) {
  const runs: { first: Send; last: Send; number: number; times: number }[] = [];
  const kindOf = ({ sentAt, answeredAt, ...kind }: Send) => JSON.stringify(kind);
  for (const [index, send] of sends.entries()) {
    const run = runs.at(-1);
    // Not the first send, which has its own name.
    if (run && run.number > 1 && kindOf(run.last) === kindOf(send))
      Object.assign(run, { last: send, times: run.times + 1 });
    else runs.push({ first: send, last: send, number: index + 1, times: 1 });
  }
  return runs;
}

function whatWasSent({ calls, sameBytes }: Send, index: number): string {
  if (calls !== undefined) return `Searched with ${seen(calls)}`;
  if (sameBytes) return 'The same request again';
  return index === 0 ? 'Sent' : 'Signed again and sent';
}

import type { Send } from '../contract.ts';
import { count, duration } from './format.ts';
import { seen, Text } from './outside.tsx';
import { StatusMark } from './status.tsx';
import { At } from './time.tsx';

/** The requests of a step, in order, with their answers. What was repeated with the same result is one row. */
export function Sends({ sends, older = 0 }: { sends: readonly Send[]; older?: number }) {
  if (sends.length === 0) return null;
  return (
    <ol class="sends">
      {older > 0 && <li class="soft">The first {count(older)} sends are no longer kept.</li>}
      {runsOf(sends).map(({ first, last, index }) => {
        const number = older + index;
        const repeats = sends.indexOf(last) - index + 1;
        return (
          <li key={index} class={first.answer}>
            <span>
              {number + 1}. {whatWasSent(first, number)} at <At at={first.sentAt} />
              {repeats > 1 && (
                <>
                  , and {repeats === 2 ? 'again' : `${repeats - 1} times more, the last`} at <At at={last.sentAt} />
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
                  <Text text={first.why} length={300} />
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** The sends that follow one another with the same result. */
function runsOf(sends: readonly Send[]) {
  const runs: { first: Send; last: Send; index: number }[] = [];
  const kindOf = ({ calls, sameBytes, answer, httpStatus, why }: Send) =>
    JSON.stringify([calls, sameBytes, answer, httpStatus, why]);
  for (const [index, send] of sends.entries()) {
    const run = runs.at(-1);
    if (run && kindOf(run.last) === kindOf(send)) run.last = send;
    else runs.push({ first: send, last: send, index });
  }
  return runs;
}

function whatWasSent({ calls, sameBytes }: Send, index: number): string {
  if (calls !== undefined) return `Searched with ${seen(calls)}`;
  if (sameBytes) return 'The same signed bytes again';
  return index === 0 ? 'Sent' : 'Signed again and sent';
}

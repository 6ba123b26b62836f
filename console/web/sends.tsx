import type { Send } from '../contract.ts';
import { count, duration } from './format.ts';
import { seen, Text } from './outside.tsx';
import { StatusMark } from './status.tsx';
import { At } from './time.tsx';

/** Each request of a step, in order, with its answer. */
export function Sends({ sends, older = 0 }: { sends: readonly Send[]; older?: number }) {
  if (sends.length === 0) return null;
  return (
    <ol class="sends">
      {older > 0 && <li class="soft">{count(older)} earlier sends are not kept.</li>}
      {sends.map((send, index) => (
        <li key={index} class={send.answer}>
          <span>
            {older + index + 1}. {whatWasSent(send, older + index)} at <At at={send.sentAt} />
          </span>
          <span class="answer">
            {/* That a search was answered does not say that it found something. */}
            <StatusMark of={send.calls !== undefined && send.answer === 'accepted' ? 'answered' : send.answer} />
            {send.httpStatus !== undefined && <code>{send.httpStatus}</code>}
            <span class="soft number">after {duration(send.answeredAt - send.sentAt)}</span>
            {send.why !== undefined && (
              <span class="soft">
                <Text text={send.why} length={300} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

function whatWasSent({ calls, sameBytes }: Send, index: number): string {
  if (calls !== undefined) return `${seen(calls)}, to look for it,`;
  if (sameBytes) return 'The same signed bytes again';
  return index === 0 ? 'Sent' : 'Signed again and sent';
}

import type { Send } from '../contract.ts';
import { duration } from './format.ts';
import { Text } from './outside.tsx';
import { StatusMark, sendMark } from './status.tsx';
import { At } from './time.tsx';

/** Each request of a step, in order, with its answer. */
export function Sends({ sends }: { sends: readonly Send[] }) {
  if (sends.length === 0) return null;
  return (
    <ol class="sends">
      {sends.map((send, index) => (
        <li key={send.sentAt} class={send.answer}>
          <span>
            {index + 1}. {whatWasSent(send, index)} at <At at={send.sentAt} />
          </span>
          <span class="answer">
            <StatusMark of={sendMark(send)} />
            {send.httpStatus !== undefined && <code>{send.httpStatus}</code>}
            {send.answeredAt !== undefined && (
              <span class="soft number">after {duration(send.answeredAt - send.sentAt)}</span>
            )}
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

function whatWasSent({ sameBytes }: Send, index: number): string {
  if (sameBytes) return 'The same signed bytes again';
  return index === 0 ? 'Sent' : 'Signed again and sent';
}

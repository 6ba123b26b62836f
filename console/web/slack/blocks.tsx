import { type Element, plainText, readBlock } from './block-kit.ts';
import { Mrkdwn } from './mrkdwn.tsx';

interface BlocksProps {
  blocks: readonly Record<string, unknown>[];
  /** Undefined if nothing can be pressed. */
  press: ((element: Element) => void) | undefined;
}

/** A message of the Slack stand-in as text, with its buttons. */
export function Blocks({ blocks, press }: BlocksProps) {
  return (
    <>
      {blocks.map(readBlock).map((block, index) => {
        switch (block.type) {
          case 'section':
            return (
              <div key={index} class="slack-section">
                {block.text && (
                  <p>
                    <Mrkdwn of={block.text} />
                  </p>
                )}
                {block.accessory && <Pressed element={block.accessory} press={press} />}
              </div>
            );
          case 'actions':
            return (
              <div key={index} class="actions">
                {block.elements.map((element) => (
                  <Pressed key={element.action_id} element={element} press={press} />
                ))}
              </div>
            );
          default:
            return (
              <p key={index} class="soft">
                ({block.name})
              </p>
            );
        }
      })}
    </>
  );
}

/** A button of a message. One with an address opens it, and the relay is told too, as in Slack. */
function Pressed({ element, press }: { element: Element; press: BlocksProps['press'] }) {
  const label = element.text ? plainText(element.text) : element.type;
  const look = element.style === 'primary' ? 'primary' : '';
  if (element.url !== undefined && /^https?:/.test(element.url)) {
    return (
      <a class={`button ${look}`} href={element.url} target="_blank" rel="noreferrer" onClick={() => press?.(element)}>
        {label}
      </a>
    );
  }
  return (
    <button type="button" disabled={!press} class={look} onClick={() => press?.(element)}>
      {label}
    </button>
  );
}

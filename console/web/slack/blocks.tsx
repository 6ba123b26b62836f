import { Text } from '../outside.tsx';
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
                ({block.type === 'other' ? block.name : block.type})
              </p>
            );
        }
      })}
    </>
  );
}

/** A button of a message. One that only opens a page shows where it leads, and is not followed. */
function Pressed({ element, press }: { element: Element; press: BlocksProps['press'] }) {
  const label = element.text ? plainText(element.text) : element.type;
  return (
    <span class="pressed">
      <button
        type="button"
        disabled={!press}
        class={element.style === 'primary' ? 'primary' : ''}
        onClick={() => press?.(element)}
      >
        {label}
      </button>
      {element.url !== undefined && (
        <code class="soft small">
          <Text text={element.url} length={80} />
        </code>
      )}
    </span>
  );
}

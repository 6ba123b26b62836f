import { Text } from '../outside.tsx';
import { plainText, type TextObject } from './block-kit.ts';

const MARKED = /(\*[^*\n]+\*|```[^`]+```|`[^`\n]+`)/;
const MARKS = /^(?:\*|`+)|(?:\*|`+)$/g;

/** A text of Slack, with bold and code as Slack shows them. */
export function Mrkdwn({ of }: { of: TextObject }) {
  const text = plainText(of);
  if (of.type !== 'mrkdwn') return <Text text={text} />;
  return (
    <>
      {text.split(MARKED).map((part, index) => {
        const inner = <Text text={MARKED.test(part) ? part.replaceAll(MARKS, '') : part} />;
        if (!MARKED.test(part)) return <span key={index}>{inner}</span>;
        return part.startsWith('*') ? <strong key={index}>{inner}</strong> : <code key={index}>{inner}</code>;
      })}
    </>
  );
}

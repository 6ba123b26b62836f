import { useState } from 'preact/hooks';
import { now } from './clock.ts';
import { withLocalTimes } from './format.ts';
import { useValue } from './state.ts';

/** Characters that reverse the direction of text, break lines or control a terminal. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Text from outside, with a replacement character for everything that could disguise it. Line breaks and tabs stay. */
export function seen(text: string): string {
  return text.replaceAll(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : '\ufffd'));
}

/** The beginning of a text, without splitting a character. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${[...text.slice(0, length)].slice(0, -1).join('')}…`;
}

/** `created defect 7e73fc34…`: shortens ids in a sentence, but keeps them distinct. */
export function withShortIds(text: string): string {
  return text.replaceAll(/\b([\da-f]{8})(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi, '$1…');
}

/** Text from outside on one line, such as a title. A long text is cut. */
export function Line({ text, length = 200 }: { text: string; length?: number }) {
  const line = seen(text).replaceAll(/\s+/g, ' ');
  return (
    <bdi class="outside" title={line.length > length ? cut(line, 1000) : undefined}>
      {cut(line, length)}
    </bdi>
  );
}

/** Text from outside with its line breaks. A long text is cut until the reader opens the rest. */
export function Text({ text, length = 600 }: { text: string; length?: number }) {
  const [isWhole, setWhole] = useState(false);
  const all = withLocalTimes(seen(text), useValue(now));
  const isLong = all.length > length;
  return (
    <>
      <bdi class="outside lines">{isWhole ? all : cut(all, length)}</bdi>
      {isLong && (
        <button type="button" class="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${all.length.toLocaleString('en-GB')} characters`}
        </button>
      )}
    </>
  );
}

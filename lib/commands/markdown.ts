const LINE_END = /\r\n|\n|\r/;
const QUOTE = /^ {0,3}>/;
const INDENTED = /^(?: {4}| {0,3}\t)/;
/** Also as the beginning of list items. */
const FENCE = /^(?<before>\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*)(?<fence>`{3,}(?=[^`]*$)|~{3,})/;
const COMMENT_START = '<!--';
const COMMENT_END = '-->';

type EndsBlock = (line: string) => boolean;

/**
 * The lines of a Markdown text, with those of code blocks, quotes and HTML comments left empty. As in GitHub's HTML
 * blocks, a comment's last line belongs to it as a whole; a fence or comment that is not closed goes on to the end.
 *
 * An indented line after an empty one is left empty as well: it may be a list item's paragraph, but it may be code, and
 * then nobody asked for what it says. https://github.github.com/gfm/
 */
export function textLines(markdown: string): string[] {
  let endsBlock: EndsBlock | undefined;
  let isInParagraph = false;
  return markdown.split(LINE_END).map((line) => {
    const isCode = INDENTED.test(line) && !isInParagraph;
    if (endsBlock || QUOTE.test(line) || isCode) {
      if (endsBlock?.(line)) endsBlock = undefined;
      isInParagraph = false;
      return '';
    }
    const fenceEnd = fenceEndOf(line);
    endsBlock = fenceEnd ?? commentEndOf(line);
    isInParagraph = line.trim() !== '';
    return fenceEnd ? '' : line;
  });
}

/** What of a line that is text is read as such: without inline code and HTML comments. */
export function prose(line: string): string {
  return withoutComments(withoutInlineCode(line)).text;
}

function fenceEndOf(line: string): EndsBlock | undefined {
  const { before, fence } = FENCE.exec(line)?.groups ?? {};
  if (before === undefined || fence === undefined) return undefined;
  return (line) => {
    const closing = line.trim();
    const indentation = line.length - line.trimStart().length;
    const isFence = closing.length >= fence.length && closing === fence.charAt(0).repeat(closing.length);
    return isFence && indentation <= before.length + 3;
  };
}

function commentEndOf(line: string): EndsBlock | undefined {
  if (!withoutComments(withoutInlineCode(line)).isOpen) return undefined;
  return (line) => line.includes(COMMENT_END);
}

/** Between the first run of backticks and the second there is code, between the second and the third is none. */
function withoutInlineCode(line: string): string {
  const parts = line.split(/`+/);
  const last = parts.length - 1;
  return parts.filter((_, index) => index % 2 === 0 || index === last).join(' ');
}

function withoutComments(line: string): { text: string; isOpen: boolean } {
  let text = '';
  let rest = line;
  for (;;) {
    const start = rest.indexOf(COMMENT_START);
    if (start < 0) return { text: text + rest, isOpen: false };
    text += `${rest.slice(0, start)} `;
    const end = rest.indexOf(COMMENT_END, start + COMMENT_START.length);
    if (end < 0) return { text, isOpen: true };
    rest = rest.slice(end + COMMENT_END.length);
  }
}

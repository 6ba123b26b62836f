import MarkdownIt, { type Token } from 'markdown-it';

/** A line of a paragraph, as shown to readers. */
interface ShownLine {
  /**
   * The text without markup. {@link NOT_PROSE} replaces hidden parts and everything that is not prose (code, images,
   * HTML).
   */
  text: string;
  /**
   * `text` without links. {@link NOT_PLAIN} replaces characters that are escaped or written as entities, because GitHub
   * creates no issue reference from them.
   */
  unlinked: string;
  /** The line as written; undefined if it belongs to code, a comment or a link over several lines. */
  source: string | undefined;
}

/** A visible paragraph in the author's own words, not in a quote, heading, table or raw HTML. */
interface ShownParagraph {
  lines: ShownLine[];
  isInList: boolean;
}

/** Replaces everything in a line that is not prose, so that the words around it do not form one sentence. */
const NOT_PROSE = '\ufffc';

/** An invisible character that no reference contains. */
const NOT_PLAIN = '\u2060';

/** GitHub accepts 65,536 characters in a body, at most this many bytes. Anything beyond is not read. */
const MAX_LENGTH = 262_144;

let made: InstanceType<typeof MarkdownIt> | undefined;
/** A parser for CommonMark, with the GitHub extensions that hide or move text. Built on first use. */
function parser(): InstanceType<typeof MarkdownIt> {
  if (made) return made;
  made = new MarkdownIt('commonmark').enable(['table', 'strikethrough']);
  // In joined texts, escaped characters could no longer be distinguished.
  made.core.ruler.disable('text_join');
  return made;
}

/** Matches the beginning of a footnote, which CommonMark would read as a link target, hiding its first line. */
const FOOTNOTE = /(?<=^[\s>*+\-\d.)]*)\[\^(?=[^\]\s]+\]:)/gm;

const LISTS = new Set(['bullet_list_open', 'ordered_list_open']);
const OTHER_BLOCKS = new Set(['blockquote_open', 'table_open', 'heading_open']);

/**
 * Returns the paragraphs of a Markdown text that are visible on GitHub. Leaves out everything inside any HTML element.
 * Malformed HTML hides everything after it. https://github.github.com/gfm/
 */
export function shownParagraphs(markdown: string): ShownParagraph[] {
  const text = markdown.slice(0, MAX_LENGTH);
  const source = text.split(/\r\n|\n|\r/);
  const html = openTags();
  const paragraphs: ShownParagraph[] = [];
  let [lists, others] = [0, 0];
  for (const token of parser().parse(text.replace(FOOTNOTE, '\\[^'), {})) {
    if (LISTS.has(token.type)) lists++;
    else if (LISTS.has(token.type.replace('_close', '_open'))) lists--;
    else if (OTHER_BLOCKS.has(token.type)) others++;
    else if (OTHER_BLOCKS.has(token.type.replace('_close', '_open'))) others--;
    else if (token.type === 'html_block') html.read(token.content);
    else if (token.type === 'inline') {
      const shown = textLines(token.children ?? [], html);
      // GitHub shows a footnote only if the text refers to it.
      if (others > 0 || token.content.startsWith('\\[^')) continue;
      const written = source.slice(...(token.map ?? [0, 0]));
      const isLineByLine = written.length === shown.length;
      const lines = shown.map((line, index) => ({ ...line, source: isLineByLine ? written[index] : undefined }));
      paragraphs.push({ lines, isInList: lists > 0 });
    }
  }
  return paragraphs;
}

/** Returns the lines of a paragraph's text. */
function textLines(tokens: readonly Token[], html: OpenTags): Pick<ShownLine, 'text' | 'unlinked'>[] {
  let [struck, links] = [0, 0];
  let [text, unlinked] = ['', ''];
  const add = (shown: string, plain = shown) => {
    text += shown;
    unlinked += plain;
  };
  for (const { type, content, markup } of tokens) {
    if (type === 's_open') struck++;
    else if (type === 's_close') struck--;
    // GitHub also creates references from bare addresses.
    else if (type === 'link_open' && markup !== 'autolink') links++;
    else if (type === 'link_close' && markup !== 'autolink') links--;
    else if (type === 'html_inline') html.read(content);
    const isHidden = struck > 0 || html.areOpen();
    if (type === 'softbreak' || type === 'hardbreak') add('\n');
    else if (type === 'text') add(isHidden ? NOT_PROSE : content, isHidden || links > 0 ? NOT_PROSE : content);
    else if (type === 'text_special') add(isHidden ? NOT_PROSE : content, NOT_PLAIN);
    else if (type === 'html_inline' && COMMENT.test(content)) add(' ', '');
    else if (type === 'html_inline') add(NOT_PROSE, LINE_BREAK.test(content) ? ' ' : NOT_PROSE);
    else if (content !== '') add(NOT_PROSE);
  }
  const all = unlinked.split('\n');
  return text.split('\n').map((line, index) => ({ text: line, unlinked: all[index] ?? '' }));
}

interface OpenTags {
  read(html: string): void;
  /** Returns true if the following text is inside an element. */
  areOpen(): boolean;
}

const COMMENT = /^<!--[\s\S]*-->$/;
const LINE_BREAK = /^<br\s*\/?>$/i;
const ATTRIBUTE = String.raw`\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>\x60]+))?`;
const TAG = new RegExp(
  String.raw`<!--(?!-?>)[\s\S]*?-->|<(?<open>[a-z][a-z\d-]*)(?:${ATTRIBUTE})*\s*/?>|</(?<close>[a-z][a-z\d-]*)\s*>|(?<broken><)`,
  'gi',
);
/** https://html.spec.whatwg.org/multipage/syntax.html#void-elements */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

function openTags(): OpenTags {
  const open: string[] = [];
  let isBroken = false;
  return {
    read(html) {
      if (isBroken) return;
      for (const { groups } of html.matchAll(TAG)) {
        const { open: opened, close: closed, broken } = groups ?? {};
        isBroken = broken !== undefined;
        if (isBroken) return;
        if (opened && !VOID.has(opened.toLowerCase())) open.push(opened.toLowerCase());
        const place = closed ? open.lastIndexOf(closed.toLowerCase()) : -1;
        if (place >= 0) open.length = place;
      }
    },
    areOpen: () => isBroken || open.length > 0,
  };
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completedItems, commandLines as linesWith } from '../../lib/commands/comment-lines.ts';

const commandLines = (body: string) => linesWith(body, ['done', 'undo', 'log']);

const uuid = '0f3c1a52-2b7e-4c1e-9d0a-5b1f6c2d7e88';

/** Markdown around a line, and whether GitHub then shows the line as text. markdown-it decides about blocks. */
const surroundings: [string, (line: string) => string, boolean][] = [
  ['alone', (line) => line, true],
  ['after other lines', (line) => `Thanks!\n\n${line}\nBye`, true],
  ['with CRLF', (line) => `Thanks!\r\n${line}\r\nBye`, true],
  ['with CR', (line) => `Thanks!\r${line}\rBye`, true],
  ['indented by three blanks', (line) => `   ${line}`, true],
  ['after a fenced block', (line) => `\`\`\`\ncode\n\`\`\`\n${line}`, true],
  ['after a fenced block in a list', (line) => `- \`\`\`\n  code\n  \`\`\`\n\n${line}`, true],
  ['after a quote', (line) => `> quoted\n\n${line}`, true],
  ['after a comment', (line) => `<!-- hidden -->\n${line}`, true],
  ['after a long comment', (line) => `<!--\nhidden\n-->\n${line}`, true],
  ['after a comment that ends behind text', (line) => `<!--\nhidden -->\n${line}`, true],
  ['after a comment in code', (line) => `Write \`<!--\` first\n${line}`, true],
  ['after two comments on a line', (line) => `a <!-- b --> c <!-- d --> e\n${line}`, true],
  ['in a fenced block', (line) => `\`\`\`\n${line}\n\`\`\``, false],
  ['indented by four blanks', (line) => `Thanks!\n\n    ${line}`, false],
  ['in a quote', (line) => `> ${line}`, false],
  ['in a comment', (line) => `<!-- for example\n${line}\n-->`, false],
  ['in the last line of a comment', (line) => `<!--\n${line} -->`, false],
  ['in a comment after text', (line) => `Thanks! <!--\n${line}\n-->`, false],
  ['in a comment that is never closed', (line) => `<!--\n\n${line}`, false],
  ['in a comment after a closed one', (line) => `<!-- a --> <!--\n${line}\n-->`, false],
  ['after a quote, without an empty line', (line) => `> quoted\n${line}`, false],
  ['in a link that defines nothing', (line) => `[//]: # (${line})`, false],
  ['in the title of a link over two lines', (line) => `[a](https://example.com "\n${line}")`, false],
  ['in the text of an image over two lines', (line) => `![\n${line}](https://example.com/a.png)`, false],
  ['in code over two lines', (line) => `\`\n${line}\n\``, false],
  ['in a hidden paragraph', (line) => `<p hidden>\n${line}\n</p>`, false],
  ['in a hidden paragraph of its own', (line) => `<p hidden>\n\n${line}\n\n</p>`, false],
  ['in a hidden part of a line', (line) => `Thanks <span hidden>\n${line}\n</span>`, false],
  ['behind an end that is no tag', (line) => `<p hidden title="</p>">\n\n${line}`, false],
  ['behind an end of another tag', (line) => `<div hidden>\n\n</p>\n\n${line}`, false],
  ['behind HTML that is not well-formed', (line) => `<div <\n\n${line}`, false],
  ['in collapsed notes', (line) => `<details>\n<summary>Release notes</summary>\n\n${line}\n\n</details>`, false],
  ['in a collapsed quote', (line) => `<details>\n<blockquote>\n\n${line}\n</blockquote>\n</details>`, false],
  ['after collapsed notes', (line) => `<details>\n\nnotes\n\n</details>\n\n${line}`, true],
  ['after a picture in HTML', (line) => `<img src="a.png" alt="a">\n\n${line}`, true],
  ['after a line break in HTML', (line) => `Thanks<br>\n${line}`, true],
  ['struck out', (line) => `~~Not this:\n${line}\nnor that~~`, false],
  ['in a table', (line) => `${line} | a\n--- | ---\n${line} | b`, false],
  ['as a heading', (line) => `# ${line}`, false],
  ['as an underlined heading', (line) => `${line}\n===`, false],
  ['in a footnote', (line) => `[^1]: See\n${line}`, false],
];

/** Any UTF-16, with unpaired surrogates. */
const codeUnits = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units));

describe('a command in a comment', () => {
  it.each([
    ...['/done 12', '/undo #12, 13', '/LOG 2h 4711 wrote `tests`', '/log\u00a02h “Checkout page”', '/done 12 \t'],
    ...['/done login', '/log \t', '/done'],
  ])('the line %o is a command', (line) => {
    expect(commandLines(line)).toEqual([line.trim()]);
  });

  it.each([
    ...['done 12', '/ done 12', '/done12', '/done:12', '/dnoe 12', '/help me', '/find x', '/status x'],
    ...['/defect x', 'Please /done 12', '- /done 12', '**/done 12**', '`/done 12`', '//done 12', '\u00a0/done 12'],
    'Thanks!\n    /done 12',
  ])('the line %o is not a command', (line) => {
    expect(commandLines(line)).toEqual([]);
  });

  it.each(surroundings)('%s', (_, around, isText) => {
    const lines = commandLines(around('/done 12'));
    expect(lines).toEqual(isText ? ['/done 12'] : []);
  });

  it('several commands in a comment keep their order', () => {
    const lines = commandLines('/done 13\nand\n/log 2h 4711\n/done 13\n> /done 14\n\n/undo 12');
    expect(lines).toEqual(['/done 13', '/log 2h 4711', '/done 13', '/undo 12']);
  });
});

describe('the checklist items that a pull request completes', () => {
  it.each([
    ['Completes checklist item 12', ['12']],
    ['COMPLETES Checklist Item #12.', ['12']],
    ['_completes checklist item: 12_', ['12']],
    ['**Completes** checklist item [12](https://example.com)', ['12']],
    ['Completes  checklist\u00a0item 12', ['12']],
    ['Completes checklist\nitems 12,\r\n13', ['12', '13']],
    ['Completes checklist items 12, 13 and 14', ['12', '13', '14']],
    ['Completes checklist items #12,#13, AND #14!', ['12', '13', '14']],
    ['Completes checklist items 13 & 12 and 13.', ['13', '12']],
    ['Completes checklist items: 12', ['12']],
    ['Completes checklist item 12. Completes checklist item 13; completes checklist item 12', ['12', '13']],
    ['Completes checklist item 12. See checklist item 13.', ['12']],
    ['Fixes #3\nCompletes checklist item 12\nCompletes checklist item 13', ['12', '13']],
    ['Sums the cart up.\ncompletes checklist item 12', ['12']],
    [`Completes checklist items ${uuid} and 7`, [uuid, '7']],
    [`Completes checklist item ${uuid.toUpperCase()}`, [uuid]],
    ['Completes checklist item 12 <!-- not 13 -->', ['12']],
    ['Completes checklist items 12 and <!-- not --> 13', ['12', '13']],
    ['- Completes checklist item 12\n    - Completes checklist item 13', ['12', '13']],
  ])('the text %o completes the items %o', (body, items) => {
    expect(completedItems(body)).toEqual(items);
    const wide = body.replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
    expect(completedItems(wide)).toEqual(items);
  });

  it.each([
    ...['This does **not** say it completes checklist item 12'],
    ...['This does **not** say that it\ncompletes checklist item 12'],
    ...['None of this is done:\ncompletes checklist item 12', 'It completes checklist item 12'],
    ...['(completes checklist item 12)', 'Do not write `x`. Completes checklist item 12'],
    ...['`Not` completes checklist item 12', '![Completes checklist item 12](https://example.com/a.png)'],
    ...['[a](https://example.com "Completes checklist item 12")', '~~Completes checklist item 12~~'],
    ...['- [ ] Completes checklist item 12', 'Completes checklist item 12?'],
    ...['Completes checklist item 12 in part', 'Completes checklist item 12 and 3 tests'],
    ...['Completes checklist items 12 and 13 tests', 'Completes checklist items 12 and `13`'],
    ...['Completes checklist item twelve', 'Completes checklist item 12a', 'Completes checklist item 12-13'],
    ...['Completes checklist item 1.2', `Completes checklist item ${uuid}0`, 'Completes checklist item\n\n12'],
    ...['Completes checklist items 12,\n\n13', 'Incompletes checklist item 12', 'Completes item 12'],
    ...['Complete checklist item 12', 'Write `Completes checklist item 12` here'],
    ...['Write ``Completes checklist item 12`` here', '<!-- Completes checklist item 12 -->'],
    ...['Completes checklist item\n> 12', '~~~ Completes checklist item 12\n~~~'],
    ...['Completes checklist item\n```\n```\n12', ''],
  ])('the text %o completes none', (body) => {
    expect(completedItems(body)).toEqual([]);
  });

  it.each(surroundings)('%s', (_, around, isText) => {
    expect(completedItems(around('Completes checklist item 12'))).toEqual(isText ? ['12'] : []);
  });
});

describe('a text on GitHub', () => {
  it('any text on GitHub can be parsed', () => {
    const pieces = fc.constantFrom(
      ...['/done 12', '/log 2h 4', 'Completes checklist items 1, 2 and 3', '\n', '\r\n', '\r', ' ', '    ', '\t'],
      ...['> ', '- ', '```', '````', '~~~', '`', '<!--', '-->', '<!-->', '1. ', '\ud800', 'é'],
    );
    const body = fc.oneof(
      fc.array(pieces).map((parts) => parts.join('')),
      codeUnits,
    );
    fc.assert(
      fc.property(body, (body) => {
        const lines = body.split(/\r\n|\n|\r/).map((line) => line.trim());
        for (const line of commandLines(body)) expect(lines).toContain(line);
        for (const item of completedItems(body)) expect(body).toContain(item);
      }),
      { numRuns: 300 },
    );
  });

  it('a long text on GitHub can be parsed', () => {
    const units = [
      ...['/done 1\n', '`', '``` ', '~', '<!--', '<!-- -->', '-->', '- ', '1. ', '> ', '\n', '\r', ' ', ' \n', '\t'],
      ...['[', '![', '[a](', '*a_', '**a ', '<p>', '<p hidden>\n', '<a ', '[a]: b\n', 'a\n===\n', '[x][y] ', '~~a'],
    ];
    const sentences = ['Completes checklist item 1 ', 'Completes checklist items 1, ', '1, ', '1', 'completes ', '# '];
    for (const unit of [...units, ...sentences]) {
      for (const start of ['', 'Completes checklist items ']) {
        // The longest comment on GitHub. A parser with quadratic time would outlast the test.
        const body = start + unit.repeat(65_536 / unit.length);
        expect(commandLines(body).length).toBeLessThanOrEqual(65_536 / 8);
        expect(completedItems(body).length).toBeLessThanOrEqual(1);
      }
    }
  });
});

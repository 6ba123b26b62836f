import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { decisions } from '../../lib/decide.ts';

const columns = ['repeatable', 'creating', 'creating, unanswered', 'sent once', 'evidence'] as const;

/** The code's table of decisions, as Markdown. */
function decisionTable(): string {
  const rows = Object.entries(decisions).map(([outcome, row]: [string, Partial<Record<string, string>>]) => [
    outcome,
    ...columns.map((column) => row[column] ?? ''),
  ]);
  const head = ['outcome of a send', ...columns];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

it("docs/exactly-once.md has the code's table of decisions", async () => {
  const text = await readFile(new URL('../../docs/exactly-once.md', import.meta.url), 'utf8');
  expect(text).toContain(decisionTable());
});

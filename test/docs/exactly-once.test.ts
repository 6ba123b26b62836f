import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type Decision, decisions, type History } from '../../lib/jobs/decide.ts';

const histories: readonly History[] = ['repeatable', 'creating', 'creating, unanswered'];

/** The table that the code decides by, as Markdown. */
function decisionTable(): string {
  const rows = Object.entries(decisions).map(([outcome, row]: [string, Record<History, Decision>]) => [
    outcome,
    ...histories.map((history) => row[history]),
  ]);
  return [['outcome of a send', ...histories], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

it('docs/exactly-once.md has the table that the code decides by', async () => {
  const text = await readFile(new URL('../../docs/exactly-once.md', import.meta.url), 'utf8');
  expect(text).toContain(decisionTable());
});

import { readFileSync } from 'node:fs';
import type { Happening } from './trial.ts';

const table = readTable();

/** The state of a job's creation, by docs/exactly-once.md. */
export interface Standing {
  /** The nonce of the signed request in the table. */
  nonce: string | undefined;
  /** Whether a send of these bytes has no clear answer, or may have one that did not arrive. */
  unanswered: boolean;
  /** The document's decision after the last answer. */
  decision: string | undefined;
}

/**
 * Follows the creations of all jobs by the table in docs/exactly-once.md, without knowledge of the code.
 *
 * @returns their states, by the job's partition, and the rules that were broken
 */
export async function rule(
  happenings: readonly Happening[],
): Promise<{ standings: ReadonlyMap<string, Standing>; breaches: string[] }> {
  const standings = new Map<string, Standing>();
  const breaches: string[] = [];
  const everKept = new Set<string>();
  for (const happening of happenings) {
    switch (happening.what) {
      case 'kept': {
        const { pk, nonce } = happening;
        everKept.add(nonce);
        const open = standings.get(pk)?.nonce;
        if (open === nonce) break;
        if (open !== undefined) breaches.push('a creation was signed anew while its last request was open');
        standings.set(pk, { nonce, unanswered: false, decision: undefined });
        break;
      }
      case 'dropped': {
        const standing = standings.get(happening.pk);
        if (standing) Object.assign(standing, { nonce: undefined, unanswered: false });
        break;
      }
      case 'stopped':
        // The table cannot show that an open request was never sent.
        for (const standing of standings.values()) standing.unanswered ||= standing.nonce !== undefined;
        break;
      case 'sent':
        if (!everKept.has(happening.nonce)) breaches.push('a creation was sent that never was in the table');
        break;
      case 'answered': {
        const standing = standingOf(standings, happening.nonce);
        const outcome = await outcomeOf(happening.answer);
        if (!standing || outcome === 'created') break;
        const row = table.get(outcome);
        if (!row) throw new Error(`docs/exactly-once.md has no row '${outcome}'`);
        standing.decision = row[standing.unanswered ? 'creating, unanswered' : 'creating'];
        if (standing.decision === 'same bytes' || standing.decision === 'look for it') standing.unanswered = true;
      }
    }
  }
  return { standings, breaches };
}

function standingOf(standings: ReadonlyMap<string, Standing>, nonce: string): Standing | undefined {
  return [...standings.values()].find((standing) => standing.nonce === nonce);
}

/** The row of the table for an answer, or `created`. */
async function outcomeOf(answer: Response | 'nothing'): Promise<string> {
  if (answer === 'nothing') return 'no answer';
  const { status } = answer;
  if (status === 429) return 'rate limited';
  let body: { success?: boolean; message?: string };
  try {
    body = JSON.parse(await answer.text());
  } catch {
    return 'unreadable';
  }
  if (status < 300 && body.success) return 'created';
  if (status < 300) return 'contradictory';
  if (status >= 500) return 'server error';
  if (status === 401) {
    const reason = String(body.message).toLowerCase();
    return table.has(reason) ? reason : 'unauthorized';
  }
  return { 403: 'forbidden', 404: 'not found' }[status] ?? 'invalid';
}

function readTable(): ReadonlyMap<string, Readonly<Record<'creating' | 'creating, unanswered', string>>> {
  const text = readFileSync(new URL('../../docs/exactly-once.md', import.meta.url), 'utf8');
  const rows = text
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 8)
    .map(([, outcome = '', , creating = '', unanswered = '']) => [
      outcome,
      { creating, 'creating, unanswered': unanswered },
    ]);
  return new Map(rows as [string, Record<'creating' | 'creating, unanswered', string>][]);
}

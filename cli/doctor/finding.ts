import { styleText } from 'node:util';
import { oneLine } from '../../local/terminal.ts';

/** `unknown` is neither good nor bad: it could not be seen without creating something, or there was nothing to see. */
export type Verdict = 'good' | 'bad' | 'unknown';

/** One thing that was looked at. */
export interface Finding {
  /** `main: users/list`, `slack: channel C0123ABCD` */
  what: string;
  verdict: Verdict;
  /** What was seen, and what to do where it is bad. Without anything secret. */
  detail: string;
}

/** It could not be seen whether something is right. Thrown by a look. */
export class CannotTell extends Error {
  override readonly name = 'CannotTell';
}

/**
 * Looks at one thing.
 *
 * @param look returns what is good about it, and throws what is bad, or a {@link CannotTell}
 */
export async function lookAt(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { what, verdict: 'good', detail: await look() };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { what, verdict: error instanceof CannotTell ? 'unknown' : 'bad', detail };
  }
}

const SIGNS = { good: ['green', '✓'], bad: ['red', '✗'], unknown: ['yellow', '?'] } as const;

export function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ what }) => what.length));
  for (const { what, verdict, detail } of findings) {
    const [colour, sign] = SIGNS[verdict];
    console.log(`${styleText(colour, sign, { stream: process.stdout })} ${what.padEnd(width)}  ${oneLine(detail)}`);
  }
}

import { digest } from '../digest.ts';
import type { WrittenLine } from '../engine/record/job.ts';

/** The line of a comment that a job comes from, as its record keeps it, without the text. */
export function writtenLine(id: number, line: string): WrittenLine {
  return { id, line: digest(line) };
}

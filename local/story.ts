import { createWriteStream } from 'node:fs';
import { inOneLine, printable } from './terminal.ts';

const TOLD_WITHIN_MS = 50;

type LogLine = Readonly<Record<string, unknown>>;

/**
 * The log of the functions on this machine. Every line goes to a file as JSON. The terminal shows what happens to jobs,
 * with one line per step.
 */
export function startStory(logFile: string, print: (line: string) => void) {
  const file = createWriteStream(logFile, { flags: 'a' });
  let untold: string[] = [];
  /** Each write to a terminal or a pipe blocks the process, so lines are printed in batches. */
  const tellSoon = (line: string) => {
    if (untold.push(line) > 1) return;
    setTimeout(printUntold, TOLD_WITHIN_MS).unref();
  };
  const printUntold = () => {
    if (untold.length > 0) print(untold.join('\n'));
    untold = [];
  };
  const sink = (level: string) => (line: unknown) => {
    const now = new Date();
    file.write(`${JSON.stringify({ timestamp: now.toISOString(), level, ...asRecord(line) })}\n`);
    tellSoon(`${now.toTimeString().slice(0, 8)}  ${tell(inOneLine(asRecord(line)))}`);
  };
  return {
    /** Metrics go to the file only. */
    writeLine: (line: string) => void file.write(line),
    /** What concerns the relay itself, in lines that are safe for a terminal. */
    tell: (message: string) => tellSoon(`${new Date().toTimeString().slice(0, 8)}  ! ${printable(message)}`),
    log: { info: sink('INFO'), warn: sink('WARN'), error: sink('ERROR') },
    close() {
      printUntold();
      return new Promise<void>((resolve) => file.end(resolve));
    },
  };
}

function asRecord(line: unknown): LogLine {
  return typeof line === 'object' && line !== null ? (line as LogLine) : { message: String(line) };
}

function tell(line: LogLine): string {
  const step = `  ${String(line.step).padEnd(28)} ${String(line.calls).padEnd(16)}`;
  switch (line.message) {
    case 'job queued':
      return `● ${line.summary}   (${line.jobId})`;
    case 'repeat received':
      return `○ again: ${line.summary}; it is already stored and queued`;
    case 'delivery ignored':
      return `○ ${line.event} ignored: ${line.reason}`;
    case 'request refused':
      return `✗ refused with ${line.status}: ${line.reason}`;
    case 'step done':
      return `${step} done in ${line.durationMs} ms`;
    case 'step skipped':
      return `${step} left out: ${line.note}`;
    case 'step failed':
      return `${step} failed: ${line.note}`;
    case 'job succeeded':
      return `✓ ${line.entity}: ${line.outcome}`;
    case 'job waits':
      return line.dueAt === undefined
        ? `… ${line.entity} waits for its turn: ${line.why}`
        : `… ${line.entity} continues at ${new Date(String(line.dueAt)).toTimeString().slice(0, 8)}: ${line.why}`;
    case 'job parked':
      return `✗ ${line.entity} parked: ${line.reason}\n          npm run -s relay -- replay ${line.jobId}`;
    case 'calls are stopped':
      return `! calls of ${line.what} are stopped: ${line.why}`;
    case 'job queued by the sweep':
      return `● ${line.entity} continues   (${line.jobId})`;
    case 'credentials good':
    case 'credentials skipped':
    case 'credentials unknown':
    case 'credentials bad':
      return `${line.message === 'credentials bad' ? '✗' : '✓'} ${line.holder}: ${line.why}`;
    default:
      return `! ${line.message}${line.error ? `: ${line.error}` : ''}`;
  }
}

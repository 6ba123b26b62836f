import type { JSX } from 'preact';
import type { JobRow, JobStatus, Lane } from '../contract.ts';

type Tone = 'calm' | 'busy' | 'good' | 'warn' | 'bad';
/** @param hint the meaning, in the words of docs/architecture.md */
const mark = (text: string, tone: Tone, shape: JSX.Element, hint?: string) => ({ text, tone, shape, hint });

const ring = <circle cx="7" cy="7" r="5.25" class="line" />;
const disc = <circle cx="7" cy="7" r="6" class="fill" />;
/** A ring with lines or a filled shape inside. */
const ringWith = (path: string, look = 'line', round = ring) => (
  <g>
    {round}
    <path d={path} class={look} />
  </g>
);
const discWith = (path: string) => ringWith(path, 'cut', disc);
const CROSS = 'm4.8 4.8 4.4 4.4m0-4.4-4.4 4.4';
const good = discWith('m4.2 7.2 2 2 3.6-4.2');
const bad = discWith(CROSS);
const slash = ringWith('m3.5 10.5 7-7');
const question = ringWith('M5.4 5.6a1.65 1.65 0 1 1 2.4 1.5c-.55.3-.8.55-.8 1M7 10v.1');

const octagon = (
  <g>
    <path d="M4.4.8h5.2l3.6 3.6v5.2l-3.6 3.6H4.4L.8 9.6V4.4z" class="fill" />
    <path d="M7 3.8v3.8M7 10v.1" class="cut" />
  </g>
);
const square = (
  <g>
    <rect x="1" y="1" width="12" height="12" rx="2" class="fill" />
    <rect x="4.8" y="4.8" width="4.4" height="4.4" class="hole" />
  </g>
);
const dashed = <circle cx="7" cy="7" r="5.25" class="line dashed" />;
const half = ringWith('M7 1.75a5.25 5.25 0 0 1 0 10.5z', 'fill');

/** States differ in shape and text, not only in colour. */
const marks = {
  queued: mark('Queued', 'calm', dashed, 'In the queue: no worker has it yet'),
  running: mark('Running', 'busy', ringWith('M5.5 4.4v5.2L9.8 7z', 'fill'), 'A worker carries out its steps'),
  waiting: mark('Waiting', 'warn', ringWith('M7 4v3.2l2.2 1.3'), 'It continues later; the job says when or after what'),
  succeeded: mark('Succeeded', 'good', good, 'It ended, with all its steps done'),
  'not-done': mark('Not done', 'calm', slash, 'It ended without doing it; the job says why'),
  discarded: mark('Discarded', 'calm', ringWith(CROSS), 'An operator ended it without the rest of its steps'),
  parked: mark('Parked', 'bad', octagon, 'It waits for a person'),
  unknown: mark('Parked: outcome unknown', 'bad', question, 'The service may or may not have created it'),
  begun: mark('Begun', 'busy', ring),
  stepDone: mark('Done', 'good', good),
  skipped: mark('Left out', 'calm', ringWith('M4.2 7h5.6')),
  failed: mark('Failed', 'bad', bad),
  accepted: mark('Accepted', 'good', good),
  answered: mark('Answered', 'calm', ring),
  refused: mark('Refused', 'bad', bad),
  lost: mark('Answer lost', 'bad', question),
  unclear: mark('Unclear answer', 'bad', question),
  'not sent': mark('Not sent', 'calm', slash),
  sending: mark('Sending', 'good', good, 'Calls are sent'),
  unused: mark('Not called', 'calm', ring, 'No call was sent in the last day'),
  noKey: mark('Key refused', 'bad', bad, 'The service refuses the key: calls wait for a new one'),
  failing: mark('Failing', 'warn', question, 'The last call failed. After three in a row, calls wait'),
  paused: mark('Paused', 'warn', ringWith('M5.6 4.8v4.4M8.4 4.8v4.4'), 'The service asked for a pause: calls wait'),
  stopped: mark('Down', 'bad', square, 'The service does not work: calls wait, and the relay tries again'),
  partly: mark('Partly down', 'warn', half, 'Some operations fail: their calls wait, and the relay tries again'),
};

export type MarkName = keyof typeof marks;

/** The statuses of jobs, in the order of a job's life. */
export const STATUSES: readonly JobStatus[] = ['queued', 'running', 'waiting', 'parked', 'succeeded', 'not-done'];

/** What goes to each lane. */
export const laneHints: Readonly<Record<Lane, string>> = {
  interactive: 'A person’s command',
  further: 'More commands of the same person within a minute',
  background: 'Other events',
  backfill: 'Existing issues',
};

/** A state as a shape and its text. */
export function StatusMark({ of, text }: { of: MarkName; text?: string }) {
  const { text: always, tone, shape, hint } = marks[of];
  return (
    <span class={`mark ${tone}`} title={hint}>
      <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
        {shape}
      </svg>
      <span>{text ?? always}</span>
    </span>
  );
}

export function jobMark({ status, discarded, outcomeUnknown, keyRefused }: JobRow): MarkName {
  if (keyRefused) return 'noKey';
  if (status === 'not-done' && discarded) return 'discarded';
  return status === 'parked' && outcomeUnknown ? 'unknown' : status;
}

/** The name of a choice of jobs, which for `not-done` includes discarded ones. */
export function statusText(status: JobStatus): string {
  return status === 'not-done' ? 'Not done or discarded' : marks[status].text;
}

export const statusHint = (status: JobStatus) => marks[status].hint;

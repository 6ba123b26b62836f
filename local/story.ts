import { createWriteStream } from 'node:fs';
import { elapsed, localClock, localDate, localTime, zoneAt } from '../lib/dates.ts';
import { commandsOf, nextStepOfParked, withDocs } from '../lib/engine/line/next-step.ts';
import { parkedShape, shortName } from '../lib/engine/record/job.ts';
import { type MovedRepository, movedInWords } from '../lib/platforms/github/moved-repositories.ts';
import { inOneLine, printable, withDocsHere } from './terminal.ts';

const TOLD_WITHIN_MS = 50;
/** Messages that another line repeats: the line of the parked job, and the line about the stopped connection. */
const TOLD_BY_OTHERS: ReadonlySet<unknown> = new Set(['newly parked job', 'the service refuses the key']);
const ENDS_WAIT: ReadonlySet<unknown> = new Set(['job continues', 'job succeeded', 'job not done', 'job parked']);
const UNTIL_OVER: ReadonlySet<unknown> = new Set(['outage', 'key']);
const CREDENTIALS = {
  'credentials good': '✓',
  'credentials bad': '✗',
  'credentials skipped': '?',
  'credentials unknown': '?',
};

type LogLine = Readonly<Record<string, unknown>>;

/**
 * The functions' log on this machine. Every line goes to a file as JSON. The terminal shows what happens to jobs, one
 * line for each step.
 *
 * @param people whose names are shown in place of their Slack ids
 */
export function startStory(
  logFile: string,
  print: (line: string) => void,
  people: ReadonlyMap<string, { name: string }> = new Map(),
) {
  const file = createWriteStream(logFile, { flags: 'a' });
  let untold: string[] = [];
  let toldZone: string | undefined;
  let isMuted = false;
  /** The reasons why calls are stopped, as lines have said, each with its operation or connection. */
  const stops = new Map<unknown, unknown>();
  /** Why each job waits, as its last line about that has said. */
  const waits = new Map<unknown, unknown>();
  function isToldAlready({ message, jobId, why, connection, operation }: LogLine): boolean {
    if (message === 'calls are stopped') stops.set(why, operation ?? connection);
    if (message === 'calls are sent again') stops.clear();
    if (ENDS_WAIT.has(message)) waits.delete(jobId);
    if (message !== 'job waits') return TOLD_BY_OTHERS.has(message);
    const isSame = waits.get(jobId) === why;
    waits.set(jobId, why);
    return isSame;
  }
  const named = (text: string) => text.replaceAll(/\b[UW][A-Z0-9]{6,}\b/g, (id) => people.get(id)?.name ?? id);
  /** Collects lines for one write, because each write to a terminal or a pipe blocks the process. */
  const tellSoon = (...lines: string[]) => {
    const isFirst = untold.length === 0;
    untold.push(...lines);
    if (isFirst) setTimeout(printUntold, TOLD_WITHIN_MS).unref();
  };
  const printUntold = () => {
    if (untold.length > 0) print(untold.join('\n'));
    untold = [];
  };
  const sink = (level: string) => (line: unknown) => {
    if (isMuted) return;
    const now = Date.now();
    file.write(`${JSON.stringify({ timestamp: new Date(now).toISOString(), level, ...asRecord(line) })}\n`);
    if (isToldAlready(asRecord(line))) return;
    // Names the zone once, and again when daylight saving time begins or ends.
    const zone = zoneAt(now);
    if (zone !== toldZone) tellSoon(`          times are ${zone}`);
    toldZone = zone;
    const told = tell(inOneLine(asRecord(line)), now, stops);
    tellSoon(`${localClock(now)}  ${named(told)}`);
  };
  return {
    /** Writes nothing more. Lines that already wait are still printed. */
    mute() {
      isMuted = true;
    },
    /** Metrics go to the file only. */
    writeLine: (line: string) => void (isMuted || file.write(line)),
    /** A message about the relay itself, made safe for a terminal. */
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

/** One line, or several if a person has to decide. Every line about a job begins with the job's short name. */
function tell(line: LogLine, now: number, stops: ReadonlyMap<unknown, unknown>): string {
  const name = typeof line.jobId === 'string' ? `[${shortName(line.jobId)}] ` : '';
  return `${name}${words(line, now, stops)}`;
}

function words(line: LogLine, now: number, stops: ReadonlyMap<unknown, unknown>): string {
  // Wide enough for most names. Longer ones keep their distance.
  const step = `  ${nameOf(line).padEnd(21)}  ${String(line.calls).padEnd(16)} `;
  switch (line.message) {
    case 'job queued':
      return `● ${line.summary}   (${line.jobId})`;
    case 'repeat received':
      return `○ again: ${line.summary}; it has its job already`;
    case 'delivery ignored':
      return `○ ${line.event} ignored: ${line.reason}`;
    case 'request ignored':
      return `○ ${line.hook} ignored: ${line.reason}`;
    case 'request refused':
      return `✗ refused with ${line.status}: ${line.reason}`;
    case 'request sent':
      return `${step} ${sendInWords(line)}`;
    case 'step done':
      return `${step} done in ${elapsed(Number(line.durationMs))}${line.settledBy ? `: ${line.settledBy}` : ''}`;
    case 'step skipped':
      return `${step} left out: ${line.note}`;
    case 'step failed':
      // The line already has the name of the operation.
      return `${step} failed: ${String(line.note).replace(`${line.calls}: `, '')}`;
    case 'job succeeded':
      return `✓ ${who(line)}: ${line.outcome}`;
    case 'job not done':
      return `⚠ ${who(line)}: not done: ${line.outcome}`;
    case 'job waits':
      if (stops.has(line.why) && UNTIL_OVER.has(line.waitsFor))
        return `… ${who(line)}: waits until ${stops.get(line.why)} works again`;
      return `… ${who(line)}: ${untilWhen(line, now)}: ${line.why}`;
    case 'job continues':
      return `● ${who(line)}: continues ${afterWait(line)}`;
    case 'job parked':
      return `${line.asks ? '? ' : '✗ '}${who(line)}: ${line.asks ? 'asks' : 'parked'}: ${line.reason}\n${whatNext(String(line.jobId), line, now)}`;
    case 'comment on GitHub':
      return `» comment on ${line.issue}: ${line.text}`;
    case 'check on GitHub':
      return [`» check ${line.name} of ${line.commit}, ${line.conclusion}: ${line.title}`, ...textsOf(line)].join(
        '\n          ',
      );
    case 'a repository has another name or owner than in relay.config.ts':
      return `! ${movedInWords(line as LogLine & MovedRepository)}`;
    case 'calls are stopped':
      return `! ${line.why}`;
    case 'calls are sent again':
      return `✓ ${line.operation ?? line.connection} works again`;
    case 'new trouble':
      return `! ${line.connection ?? line.secret ?? line.lane}: ${line.what}`;
    case 'the person who asked could not be told':
      return `… ${who(line)}: not notified yet: ${line.error}`;
    case 'job queued by the sweep':
      return `● ${who(line)}: continues`;
    case 'credentials good':
    case 'credentials skipped':
    case 'credentials unknown':
    case 'credentials bad':
      return `${CREDENTIALS[line.message]} ${line.secret}: ${line.why}`;
    default:
      return `! ${line.message}${line.error ? `: ${line.error}` : ''}`;
  }
}

/** The name of a step. Those of the engine are plainer than in the journal. */
const nameOf = ({ step }: LogLine) =>
  step === 'not done'
    ? 'note the reason'
    : String(step).replace(/^(say (?:that it is parked|why it waits)): \d+$/, '$1');

/** An issue, or a person without the prefix; the automation for a timesheet, because its id means nothing to people. */
const who = ({ entity, automation }: LogLine): string =>
  /^(?:timesheet|team)-/.test(String(entity)) ? String(automation) : String(entity).replace(/^slack-/, '');

/** A text's lines, which are indented, so that none of them looks like a line of the story. */
const textsOf = ({ text }: LogLine): unknown[] => (Array.isArray(text) ? text : []);

/** A send that the line about the end of its step does not explain. */
function sendInWords({ came, why, sameBytes, durationMs }: LogLine): string {
  const sent = sameBytes ? 'the same request again: ' : '';
  const took = elapsed(Number(durationMs));
  return came === 'accepted' ? `${sent}answered in ${took}` : `${sent}${why}, after ${took}`;
}

function afterWait({ waitedFor, durationMs }: LogLine): string {
  const long = elapsed(Number(durationMs));
  if (waitedFor === 'outage') return `after an outage; it waited ${long}`;
  if (waitedFor === 'key') return `because the service accepts the key again; it waited ${long}`;
  return `after it waited ${long} for ${waitedFor === 'operator' ? 'an operator' : 'a person'}`;
}

function whatNext(jobId: string, line: LogLine, now: number): string {
  const parked = parkedShape.safeParse(line).data;
  const time = (ms: number) => timeSoon(ms, now);
  const next = nextStepOfParked(parked, time, now);
  const commands = commandsOf({ id: jobId }, next, time).map((command) => `npx partner-relay ${command}`);
  return [withDocsHere(withDocs(next)), ...commands].map((line) => `          ${line}`).join('\n');
}

function untilWhen(line: LogLine, now: number): string {
  if (line.dueAt === undefined) return 'waits for its turn';
  if (UNTIL_OVER.has(line.waitsFor)) return 'waits until this is over';
  if (line.waitsFor === 'operator') return `looks again ${whenDue(line, now)}`;
  const latest = timeSoon(Date.parse(String(line.dueAt)), now);
  return line.waitsFor === 'question' ? `waits until ${latest} at the latest` : `continues ${whenDue(line, now)}`;
}

/** `at 11:00:00`, `at about 11:00:00`, or `in a moment` for a time that has passed. */
function whenDue({ dueAt, isForecast }: LogLine, now: number): string {
  const at = Date.parse(String(dueAt));
  return at <= now ? 'in a moment' : `at ${isForecast ? 'about ' : ''}${timeSoon(at, now)}`;
}

/** The time of day, with the date if it is another day. */
function timeSoon(ms: number, now: number): string {
  return localDate(ms) === localDate(now) ? localClock(ms) : localTime(ms);
}

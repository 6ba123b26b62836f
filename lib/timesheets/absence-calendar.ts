import { comparableName } from '../commands/words.ts';
import type { Team } from '../config/timesheets.ts';
import { charsetOf, decoded } from '../encoding.ts';
import { readUpTo } from '../outside.ts';
import { calendarSecret, SecretError, type Secrets } from '../state/secrets/secrets.ts';
import { comparableAddress } from '../text.ts';
import type { TeamMember } from './read-timesheets.ts';

/**
 * The people who are away on a day according to a team's calendar, and its unreadable parts; or why it cannot be read.
 */
type ReadCalendar = { away: string[]; leftOut?: string } | { unread: string };

const MOST_BYTES = 5_000_000;
const MOST_REDIRECTS = 3;
/** How many unreadable parts are named. */
const MOST_NAMED = 5;
const TIMEOUT_MS = 10_000;

export interface CalendarSource {
  secrets: Pick<Secrets, 'current'>;
  fetch: typeof globalThis.fetch;
}

/**
 * Reads a team's calendar. Returns failures instead of throwing them. They never contain the address, which is a
 * secret.
 *
 * @returns the ids of users of the service
 */
export async function readCalendar(
  { name, absence, timeZone, remindAt: at }: Team,
  members: readonly TeamMember[],
  date: string,
  { secrets, fetch }: CalendarSource,
): Promise<ReadCalendar> {
  if (!absence.calendar) return { away: [] };
  let file: string;
  try {
    file = await download((await secrets.current(`calendar/${name}`, calendarSecret)).address, fetch);
  } catch (error) {
    const isSaid = error instanceof Unread || error instanceof SecretError;
    return { unread: isSaid ? error.message : 'it does not answer' };
  }
  // Few teams have a calendar, so the library is loaded on demand.
  const { eventsIn } = await import('../ics.ts');
  const leftOut: string[] = [];
  try {
    const events = eventsIn(file, { from: date, to: date, timeZone, at }, (what) => leftOut.push(what));
    const away = members.filter((member) => events.some((event) => isAbout(event, member)));
    const named = [
      ...leftOut.slice(0, MOST_NAMED),
      ...(leftOut.length > MOST_NAMED ? [`${leftOut.length} parts in all`] : []),
    ];
    return { away: away.map(({ userId }) => String(userId)), ...(named.length > 0 && { leftOut: named.join('; ') }) };
  } catch {
    return { unread: 'it is not an iCalendar file' };
  }
}

/** Returns true if the event contains the member's address, or their whole name in its title. */
function isAbout(
  { addresses, summary }: { addresses: string[]; summary: string },
  { email, name }: TeamMember,
): boolean {
  const title = ` ${comparableName(summary).replaceAll(/[^\p{L}\p{N}@.'-]+/gu, ' ')} `;
  const address = comparableAddress(email);
  return [address, comparableName(name)].some((one) => title.includes(` ${one} `)) || addresses.includes(address);
}

class Unread extends Error {}

async function download(calendar: string, fetch: typeof globalThis.fetch): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let address = new URL(calendar);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(address, { redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) {
      if (!response.ok) {
        await response.body?.cancel();
        throw new Unread(`it answers with ${response.status}`);
      }
      const { bytes, isCut } = await readUpTo(MOST_BYTES, response.body);
      if (isCut) throw new Unread(`it is larger than ${MOST_BYTES / 1_000_000} MB`);
      return decoded(withoutFolds(bytes), charsetOf(response.headers) ?? 'windows-1252');
    }
    await response.body?.cancel();
    const next = new URL(location, address);
    if (next.protocol !== 'https:' && next.protocol !== address.protocol)
      throw new Unread('it redirects to another protocol');
    address = next;
  }
  throw new Unread(`it redirects more than ${MOST_REDIRECTS} times`);
}

/** Joins folded lines as bytes, because a fold may be in the middle of a character (RFC 5545, section 3.1). */
function withoutFolds(file: Buffer): Buffer {
  return Buffer.from(file.toString('latin1').replaceAll(/\r?\n[ \t]/g, ''), 'latin1');
}

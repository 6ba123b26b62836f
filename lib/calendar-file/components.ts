/** A property as written. Its parameters are a text such as `;TZID=Europe/Berlin`, or empty. */
export interface Property {
  parameters: string;
  value: string;
}

/** An event with its own properties, keyed by name in capitals. */
export interface Component {
  /** A name for people, such as `event 3`. */
  title: string;
  properties: Map<string, Property[]>;
  /** The texts of the zones that its calendar defines, by name. */
  zones: Map<string, string>;
  isCancelled: boolean;
}

const FOLD = /(?:\r\n|\n|\r)[ \t]/g;
/**
 * Splits a line into name, parameters and value. A parameter with a colon is in quotes; if a quote is not closed, the
 * last colon counts.
 */
const contentOf = (line: string) =>
  /^([\w-]+)((?:;(?:"[^"]*"|[^":])*)?):(.*)$/.exec(line) ?? /^([\w-]+)(;.*):(.*)$/.exec(line);
/** Components that only a calendar can contain. Their beginning ends every open component. */
const OUTER = new Set(['VCALENDAR', 'VEVENT', 'VTIMEZONE', 'VTODO', 'VJOURNAL', 'VFREEBUSY']);

/**
 * Reads the events of all calendars in a file (RFC 5545). A wrong line does not affect the others.
 * @param leftOut is called for each part without a meaning
 * @throws {Error} for a file that is not iCalendar
 */
export function eventsOf(file: string, leftOut: (what: string) => void): Component[] {
  if (!/^\ufeff?BEGIN:VCALENDAR/im.test(file)) throw new Error('it is not an iCalendar file');
  if (!/END:VCALENDAR\s*$/i.test(file)) leftOut('the end of the file is missing');
  const events: Component[] = [];
  let last: Property = { parameters: '', value: '' };
  let [calendar, open, zone] = [{ zones: new Map<string, string>(), isCancelled: false }, [''], ['']];
  for (const line of file.replaceAll(FOLD, '').split(/\r\n|\n|\r/)) {
    const [, written = '', parameters = '', value = ''] = contentOf(line.replace('\ufeff', '')) ?? [];
    const [name, what] = [written.toUpperCase(), value.trim().toUpperCase()];
    if (name === 'BEGIN') {
      if (what === 'VCALENDAR') calendar = { zones: new Map(), isCancelled: false };
      if (what === 'VTIMEZONE') zone = [];
      if (what === 'VEVENT') events.push({ title: `event ${events.length + 1}`, properties: new Map(), ...calendar });
      open = OUTER.has(what) ? [what] : [...open, what];
    }
    const event = open[0] === 'VEVENT' ? events.at(-1) : undefined;
    if (event && name === '') {
      if (line.trim() === '') continue;
      leftOut(`${event.title}: a line that is not a property`);
      // Adds a line that continues a text without being marked as a continuation.
      last.value += ` ${line}`;
    } else if (event && open.length === 1) {
      last = { parameters, value };
      const known = event.properties.get(name);
      if (known) known.push(last);
      else event.properties.set(name, [last]);
    } else if (open[0] === 'VTIMEZONE') zone.push(line);
    else if (name === 'METHOD') calendar.isCancelled = what === 'CANCEL';
    if (name === 'END' && open.includes(what)) {
      const [, named = ''] = /^TZID[^:]*:\s*(.*?)\s*$/im.exec(zone.join('\n')) ?? [];
      if (what === 'VTIMEZONE') calendar.zones.set(named, zone.join('\r\n'));
      open = open.slice(0, open.lastIndexOf(what));
    }
  }
  return events;
}

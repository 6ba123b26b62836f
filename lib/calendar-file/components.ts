/** A property as it is written: its parameters are `;TZID=Europe/Berlin`, or nothing. */
export interface Property {
  parameters: string;
  value: string;
}

/** An event with its own properties, by their names in capitals. */
export interface Component {
  /** `event 3`, for people. */
  title: string;
  properties: Map<string, Property[]>;
  /** The text of each zone that its calendar defines, by its name. */
  zones: Map<string, string>;
  isCancelled: boolean;
}

const FOLD = /(?:\r\n|\n|\r)[ \t]/g;
/** A name, parameters, a value. A parameter with a colon is in quotes; if a quote has no end, the last colon counts. */
const contentOf = (line: string) =>
  /^([\w-]+)((?:;(?:"[^"]*"|[^":])*)?):(.*)$/.exec(line) ?? /^([\w-]+)(;.*):(.*)$/.exec(line);
/** What has no other around it but a calendar. What was not closed before it is over. */
const OUTER = new Set(['VCALENDAR', 'VEVENT', 'VTIMEZONE', 'VTODO', 'VJOURNAL', 'VFREEBUSY']);

/**
 * The events of all calendars in a file (RFC 5545). A line that is wrong takes no other with it.
 * @param leftOut is called for what has no meaning
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
      // A text goes on in a line that is not marked as a part of it.
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

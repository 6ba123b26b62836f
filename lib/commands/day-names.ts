import { innerWord, inPlainForm } from './words.ts';

/** The team's languages: `slack.languages`. */
export type Languages = readonly string[];

/** Names of days and months, from the ICU data in Node. */
export interface Names {
  /** Weekdays with their numbers, 0 for Sunday. In another language, a short name may mean another day. */
  weekdays: Map<string, number[]>;
  /** Words for today and the days around it, with the number of days to add to today. */
  relative: Map<string, number>;
  short: Map<string, number[]>;
  /** Months with their numbers, beginning with 1. */
  months: Map<string, number>;
  /** Names of days up to today that are recognized with typos. */
  long: readonly string[];
}

/** Shorter words are too similar to others: `monday`, `money`. */
const SHORTEST_WITH_TYPO = 7;

/** Keyed by languages. Built on first use, because most Slack requests do not need the names. */
const known = new Map<string, Names>();
export function namesIn(languages: Languages): Names {
  const key = languages.join();
  const names = known.get(key) ?? readNames(languages);
  known.set(key, names);
  return names;
}

export function plain(word: string): string {
  return innerWord(inPlainForm(word))
    .normalize('NFC')
    .toLowerCase()
    .replace(/['’]s$/, '');
}

/** Languages whose long weekday names always count: nothing is logged for a weekday without a question. */
const ALWAYS = ['en', 'de', 'fr', 'es', 'nl', 'da'];

/** Words that ICU lacks, and words of other languages with only this meaning. */
const COMMON = new Map([
  ['day before yesterday', -2],
  ['yday', -1],
  ...['anteontem', 'eergisteren', 'przedwczoraj'].map((word) => [word, -2] as const),
  ...['ieri', 'ontem', 'gisteren', 'wczoraj'].map((word) => [word, -1] as const),
  ...["aujourd'hui", 'oggi', 'hoje', 'vandaag', 'dziś'].map((word) => [word, 0] as const),
  ['domani', 1],
]);

function readNames(languages: Languages): Names {
  const sets = {
    weekdays: new Map<string, number[]>(),
    relative: new Map(COMMON),
    short: new Map<string, number[]>(),
    months: new Map<string, number>(),
  };
  const wordOf = (name: string) => name.split(' ').map(plain).join(' ');
  for (const language of new Set([...ALWAYS, ...languages])) {
    const isOfTeam = language === 'en' || languages.includes(language);
    const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
    for (const days of [-2, -1, 0, 1, 2]) {
      const name = relative.format(days, 'day');
      // Some languages have no word for the day before yesterday, so ICU returns a number.
      if (/\d/.test(name)) continue;
      sets.relative.set(wordOf(name), days);
    }
    for (const [style, weekdays] of [
      ['long', sets.weekdays],
      ...(isOfTeam ? [['short', sets.short] as const] : []),
    ] as const) {
      const weekday = new Intl.DateTimeFormat(language, { weekday: style, timeZone: 'UTC' });
      // The first of these dates is a Sunday.
      for (let day = 0; day < 7; day++) {
        const word = wordOf(weekday.format(Date.UTC(2026, 1, day + 1)));
        weekdays.set(word, [...new Set([...(weekdays.get(word) ?? []), day])]);
      }
      const month = new Intl.DateTimeFormat(language, { day: 'numeric', month: style, timeZone: 'UTC' });
      for (let index = 0; index < 12; index++) {
        const part = month.formatToParts(Date.UTC(2026, index, 1)).find(({ type }) => type === 'month');
        if (part && /^\p{L}/u.test(part.value)) sets.months.set(wordOf(part.value), index + 1);
      }
    }
  }
  for (const names of Object.values(sets)) {
    // A single letter, as in Hungarian abbreviations, would match too much.
    for (const name of [...names.keys()]) if (name.length < 2) names.delete(name);
  }
  const past = [...sets.relative].filter(([, days]) => days < 0).map(([name]) => name);
  const long = [...sets.weekdays.keys(), ...past].filter(
    (name) => name.length >= SHORTEST_WITH_TYPO && !name.includes(' '),
  );
  return { ...sets, long };
}

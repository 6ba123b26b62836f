import type { ComponentChildren } from 'preact';
import { duration } from './format.ts';
import { type PageOf, ServiceId } from './id.tsx';
import { JsonView } from './json-view.tsx';
import { Line } from './outside.tsx';
import { At } from './time.tsx';

/** What relates records to one another, and what was sent as digests. */
const INTERNAL = /^(address|digest|entity|in|marker|sent|\w*sha)$/i;
const DIGEST = /^[\da-f-]{12,}$/i;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;
const MOST = 12;
const MOST_OF_A_LIST = 5;

type Found = readonly [name: string, shown: ComponentChildren];

/** Data as people read it: texts, numbers, times and links. All of it, with ids and digests, is behind "Raw". */
export function Readable({ value, pageOf }: { value: unknown; pageOf: PageOf }) {
  const found = factsIn(value, 'value', pageOf).slice(0, MOST);
  return (
    <>
      {found.length > 0 && (
        <dl class="facts">
          {found.map(([name, shown], index) => (
            <Fact key={index} name={inWords(name)}>
              {shown}
            </Fact>
          ))}
        </dl>
      )}
      <details class="raw">
        <summary>Raw</summary>
        <JsonView value={value} pageOf={pageOf} />
      </details>
    </>
  );
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>
        <Line text={name} length={40} />
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

/** @param name of the value; an id or a name in it is that of the whole */
function factsIn(value: unknown, name: string, pageOf: PageOf): Found[] {
  if (Array.isArray(value)) {
    const texts = value.flatMap((one) => textOf(one) ?? []);
    if (texts.length === 0) return [];
    const more = value.length - MOST_OF_A_LIST;
    const shown = texts.slice(0, MOST_OF_A_LIST).join(', ');
    return [[name, <Line key={name} text={more > 0 ? `${shown} and ${more} more` : shown} />]];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, entry]) =>
      INTERNAL.test(key) ? [] : factsIn(entry, /^(id|name)$/.test(key) && name !== 'value' ? name : key, pageOf),
    );
  }
  const shown = shownOf(value, name, pageOf(name === 'value' ? 'id' : name, value));
  return shown === undefined ? [] : [[name, shown]];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) {
    const { title, name } = value as Record<string, unknown>;
    return textOf(title ?? name);
  }
  return value === undefined || value === null || DIGEST.test(String(value)) ? undefined : String(value);
}

function shownOf(value: unknown, name: string, page: string | undefined): ComponentChildren | undefined {
  if (page !== undefined) return <ServiceId id={String(value)} page={page} />;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') {
    // The milliseconds of a time of this century.
    if (value > 1e12) return /id$/i.test(name) ? undefined : <At at={value} />;
    return name === 'minutes' ? duration(value * 60_000) : String(value);
  }
  if (typeof value !== 'string' || value === '' || DIGEST.test(value)) return undefined;
  if (TIME.test(value)) return <At at={Date.parse(value)} />;
  if (/^https:\/\//.test(value)) {
    return (
      <a href={value} target="_blank" rel="noreferrer">
        <Line text={value.replace('https://', '')} length={80} />
      </a>
    );
  }
  return <Line text={value} />;
}

/** `issueNumber` and `issue_number`: `Issue number` */
function inWords(name: string): string {
  const words = name.replaceAll(/[_-]+|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

import type { ComponentChildren } from 'preact';
import { duration } from './format.ts';
import { Out, type PageOf, ServiceId } from './id.tsx';
import { INTERNAL_FIELDS } from './internal-fields.ts';
import { JsonView } from './json-view.tsx';
import { Line } from './outside.tsx';
import { At } from './time.tsx';

/** The names that some fields are shown with. */
const CALLED: Readonly<Record<string, string>> = { minutes: 'time', rows: 'found' };
const DIGEST = /^[\da-f-]{12,}$/i;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;
const MOST = 12;
const MOST_OF_A_LIST = 5;

interface Found {
  /** The name of the value that contains this one. */
  parent: string;
  name: string;
  shown: ComponentChildren;
}

/** Data as people read it: texts, numbers, times and links. "Raw" has everything, with ids and digests. */
export function Readable({ value, pageOf }: { value: unknown; pageOf: PageOf }) {
  const found = factsIn(value, '', '', pageOf).slice(0, MOST);
  const many = Map.groupBy(found, ({ name }) => name);
  return (
    <div class="readable">
      {found.length > 0 && (
        <dl class="facts">
          {found.map(({ parent, name, shown }, index) => (
            <Fact key={index} name={inWords((many.get(name)?.length ?? 0) > 1 ? `${parent} ${name}` : name)}>
              {shown}
            </Fact>
          ))}
        </dl>
      )}
      <details class="raw">
        <summary>Raw</summary>
        <JsonView value={value} pageOf={pageOf} />
      </details>
    </div>
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

function factsIn(value: unknown, name: string, parent: string, pageOf: PageOf): Found[] {
  if (Array.isArray(value)) {
    const texts = value.flatMap((one) => textOf(one) ?? []);
    if (texts.length === 0) return [];
    const more = value.length - MOST_OF_A_LIST;
    const shown = texts.slice(0, MOST_OF_A_LIST).join(', ');
    return [{ parent, name, shown: <Line text={more > 0 ? `${shown} and ${more} more` : shown} /> }];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, entry]) =>
      INTERNAL_FIELDS.test(key) ? [] : factsIn(entry, key, name, pageOf),
    );
  }
  const shown = shownOf(value, name, pageOf(name, value));
  // An id or a name gets the name of the object that contains it.
  const told = /^(id|name)$/.test(name) && parent !== '' ? parent : name || 'answer';
  return shown === undefined ? [] : [{ parent, name: told, shown }];
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
  if (typeof value === 'number') {
    if (/(At|_at|Since|until)$/i.test(name) && value > 1e12) return <At at={value} />;
    if (name === 'minutes') return value === 0 ? undefined : duration(value * 60_000);
    return /^$|id$/i.test(name) ? undefined : String(value);
  }
  if (typeof value !== 'string' || value === '' || DIGEST.test(value)) return undefined;
  if (TIME.test(value)) return <At at={Date.parse(value)} />;
  if (/^https:\/\//.test(value)) {
    return (
      <Out to={value}>
        <Line text={value.replace('https://', '')} length={80} />
      </Out>
    );
  }
  return <Line text={value} />;
}

/** `issueNumber` and `issue_number`: `Issue number` */
function inWords(name: string): string {
  const words = (CALLED[name.trim()] ?? name)
    .trim()
    .replace(/^.*url$/i, 'page')
    .replaceAll(/[_-]+|(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

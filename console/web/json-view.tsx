import { type PageOf, ServiceId } from './id.tsx';
import { cut, seen } from './outside.tsx';

/** A nested entry with more entries than this is closed at first. */
const OPEN_ENTRIES = 12;
const LONGEST_TEXT = 2_000;

/** JSON from outside, as a tree that can be opened and closed. */
export function JsonView({ value, name, pageOf }: { value: unknown; name?: string; pageOf?: PageOf }) {
  const label = name === undefined ? null : <span class="json-name">{seen(name)}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json-leaf">
        {label}
        <Leaf value={value} page={pageOf?.(name ?? '', value)} />
      </div>
    );
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div class="json-leaf">
        {label}
        {open}
        {close}
      </div>
    );
  }
  return (
    <details class="json" open={entries.length <= OPEN_ENTRIES}>
      <summary>
        {label}
        <span class="soft">
          {open} {entries.length} {close}
        </span>
      </summary>
      <div class="json-entries">
        {entries.map(([key, entry]) => (
          <JsonView key={key} name={key} value={entry} {...(pageOf && { pageOf })} />
        ))}
      </div>
    </details>
  );
}

function Leaf({ value, page }: { value: unknown; page: string | undefined }) {
  if (page !== undefined) return <ServiceId id={String(value)} page={page} />;
  if (typeof value !== 'string') return <span class="json-value">{String(value)}</span>;
  return <bdi>{cut(seen(JSON.stringify(value)), LONGEST_TEXT)}</bdi>;
}

import type { Now } from '../contract.ts';
import { many } from './format.ts';
import { useRelay } from './relay-facts.tsx';
import { href, replaceAddress, route } from './route.ts';
import { SearchBox, useTyped } from './search.tsx';
import { useValue } from './state.ts';
import { laneHints, STATUSES, StatusMark, statusText } from './status.tsx';

const TEXT_FILTERS = [
  { name: 'subject', label: 'Repository or issue', example: 'acme/web#42' },
  { name: 'person', label: 'Person', example: 'octocat or Ada Lovelace' },
  { name: 'delivery', label: 'Delivery id', example: '72d3162e-cc78-11e3-…' },
] as const;
const FILTERS = ['status', 'text', 'automation', 'connection', 'lane', 'subject', 'person', 'delivery'] as const;
type StatusFilter = (typeof FILTERS)[number];

/** The filters in the address. Other parameters are left out. */
export function filtersIn(query: URLSearchParams): Partial<Record<StatusFilter, string>> {
  const given = FILTERS.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

function setFilter(name: StatusFilter, value: string | undefined): void {
  replaceAddress(href('jobs', undefined, { ...filtersIn(route.value.query), [name]: value }));
}

/** The filters of the list of jobs. They are in the address, so that people can share a view. */
export function JobFilter({ counts }: { counts: Now['counts'] | undefined }) {
  const filters = filtersIn(useValue(route).query);
  const { automations, connections } = useRelay();
  const hasMore = FILTERS.some((name) => name !== 'status' && name !== 'text' && filters[name] !== undefined);
  return (
    <search class="filter">
      <fieldset class="chips">
        <legend class="hidden">Status</legend>
        <button
          type="button"
          aria-pressed={filters.status === undefined}
          onClick={() => setFilter('status', undefined)}
        >
          All
        </button>
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            aria-pressed={filters.status === status}
            onClick={() => setFilter('status', filters.status === status ? undefined : status)}
          >
            <StatusMark of={status} text={statusText(status)} />
            {counts && <span class="count">{many(counts[status])}</span>}
          </button>
        ))}
      </fieldset>
      <SearchBox
        label="Filter jobs by text"
        placeholder="Filter by text"
        value={filters.text ?? ''}
        change={(text) => setFilter('text', text)}
      />
      <details class="more" open={hasMore}>
        <summary>More filters</summary>
        <div class="fields">
          <Choice name="automation" label="Automation" value={filters.automation} options={automations} />
          <Choice name="connection" label="Connection" value={filters.connection} options={connections} />
          <Choice name="lane" label="Lane" value={filters.lane} options={Object.keys(laneHints)} />
          {TEXT_FILTERS.map(({ name, label, example }) => (
            <TypedFilter key={name} name={name} label={label} example={example} value={filters[name]} />
          ))}
        </div>
      </details>
      {Object.keys(filters).length > 0 && (
        <a class="button" href={href('jobs')}>
          Clear all filters
        </a>
      )}
    </search>
  );
}

interface FilterProps {
  name: StatusFilter;
  label: string;
  value: string | undefined;
}

function Choice({ name, label, value = '', options }: FilterProps & { options: readonly string[] }) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => setFilter(name, currentTarget.value)}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

function TypedFilter({ name, label, example, value = '' }: FilterProps & { example: string }) {
  const typed = useTyped(value, (next) => setFilter(name, next));
  return (
    <label class="field">
      <span>{label}</span>
      <input type="search" placeholder={example} {...typed} />
    </label>
  );
}

import type { JobRow } from '../contract.ts';
import { duration } from './format.ts';
import { Id } from './id.tsx';
import { Line, seen, withShortIds } from './outside.tsx';
import { jobHref } from './route.ts';
import { jobMark, laneHints, StatusMark } from './status.tsx';
import { Table } from './table.tsx';
import { Ago, Continues } from './time.tsx';

interface JobTableProps {
  rows: readonly JobRow[];
  /** For screen readers. */
  caption: string;
  /** For the selection of several jobs. */
  selected?: ReadonlySet<string>;
  select?: ((id: string, isSelected: boolean) => void) | undefined;
  /** The screen shows the news of these jobs above the table. */
  held?: ReadonlySet<string>;
}

/** Jobs as a table, or as cards on a narrow screen. The keys j and k move through the links. */
export function JobTable({ rows, caption, selected, select, held }: JobTableProps) {
  return (
    <Table
      class="jobs"
      caption={caption}
      heads={[
        ...(select ? [['Selected', 'blank'] as const] : []),
        ['Status', 'status'],
        'Job',
        'Automation',
        'Person',
        ['Created', 'number'],
        ['Took', 'number took'],
      ]}
    >
      {rows.map((row) => (
        <tr key={row.id} class={row.status}>
          {select && (
            <td class="select">
              <SelectBox row={row} selected={selected} select={select} />
            </td>
          )}
          <td class="status">
            <StatusMark of={jobMark(row)} />
          </td>
          <td class="what">
            <a href={jobHref(row.id)} data-item={row.id}>
              <Line text={titleOf(row)} />
            </a>{' '}
            <Id id={row.id} shown={row.shortName} />
            {!held?.has(row.id) && <News row={row} />}
          </td>
          <td class="soft automation">
            {row.automation}
            <small>
              {row.connection} · <span title={laneHints[row.lane]}>{row.lane}</span>
            </small>
          </td>
          <td class="soft person">
            <Line text={row.personName ?? row.person ?? ''} length={40} />
          </td>
          <td class="number soft created">
            <Ago at={row.createdAt} />
          </td>
          <td class="number soft took">{took(row)}</td>
        </tr>
      ))}
    </Table>
  );
}

interface SelectBoxProps extends Pick<JobTableProps, 'selected'> {
  row: JobRow;
  select: (id: string, isSelected: boolean) => void;
}

export function SelectBox({ row: { id, subject }, selected, select }: SelectBoxProps) {
  return (
    <input
      type="checkbox"
      aria-label={`Select ${subject}`}
      checked={selected?.has(id) ?? false}
      onChange={({ currentTarget }) => select(id, currentTarget.checked)}
    />
  );
}

/** The summary without the automation and the person, who are shown beside it. */
export function titleOf({ summary, automation, personName }: Pick<JobRow, 'summary' | 'automation' | 'personName'>) {
  const beside = [automation, personName].map((name) => `${name}: `).find((name) => summary.startsWith(name));
  return summary.slice(beside?.length ?? 0);
}

/** How the job ended or why it waits, without the words of its title. */
export function newsOf({ news, ...row }: Pick<JobRow, 'news' | 'summary' | 'automation' | 'personName'>): string {
  const said = [titleOf(row), 'discarded: '].find((one) => news.toLowerCase().startsWith(one.toLowerCase()));
  return news.slice(said?.length ?? 0).replace(/^:?\s+/, '');
}

function News({ row }: { row: JobRow }) {
  const news = withShortIds(newsOf(row));
  return (
    <div class="news" title={seen(news)}>
      <Line text={news} length={160} />
      <Continues job={row} />
    </div>
  );
}

/** The time from the event to the end, without waits for a person; undefined before the end. */
function took({ createdAt, finishedAt, personMs = 0, status }: JobRow): string | undefined {
  return finishedAt === undefined || status === 'parked' ? undefined : duration(finishedAt - createdAt - personMs);
}

import type { JobRow } from '../contract.ts';
import { duration } from './format.ts';
import { Line } from './outside.tsx';
import { jobHref } from './route.ts';
import { jobMark, StatusMark } from './status.tsx';
import { Ago, Coming, Since } from './time.tsx';

interface JobTableProps {
  rows: readonly JobRow[];
  /** For screen readers. */
  caption: string;
  /** For the selection of several jobs. */
  selected?: ReadonlySet<string>;
  select?: (id: string, isSelected: boolean) => void;
}

/** Jobs as a table, and on a narrow screen as cards. j and k move through the links. */
export function JobTable({ rows, caption, selected, select }: JobTableProps) {
  return (
    <table class="jobs">
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {select && (
            <th scope="col">
              <span class="hidden">Selected</span>
            </th>
          )}
          <th scope="col" class="status">
            Status
          </th>
          <th scope="col">Job</th>
          <th scope="col">Automation</th>
          <th scope="col">Person</th>
          <th scope="col" class="number">
            Created
          </th>
          <th scope="col" class="number took">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} class={row.status}>
            {select && (
              <td class="select">
                <input
                  type="checkbox"
                  aria-label={`Select ${row.subject}`}
                  checked={selected?.has(row.id) ?? false}
                  onChange={({ currentTarget }) => select(row.id, currentTarget.checked)}
                />
              </td>
            )}
            <td class="status">
              <StatusMark of={jobMark(row)} />
            </td>
            <td class="what">
              <a href={jobHref(row.id)} data-item={row.id}>
                <Line text={row.summary} />
              </a>
              <News row={row} />
            </td>
            <td class="soft automation">
              {row.automation}
              <small>
                {row.connection} · {row.lane}
              </small>
            </td>
            <td class="soft person">{row.person && <Line text={row.person} length={40} />}</td>
            <td class="number soft created">
              <Ago at={row.createdAt} />
            </td>
            <td class="number soft took">
              <Took row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function News({ row: { news, until, status } }: { row: JobRow }) {
  if (news === '' && until === undefined) return null;
  return (
    <div class="news">
      <Line text={news} length={160} />
      {status === 'waiting' && until !== undefined && (
        <span class="until">
          {' '}
          continues <Coming at={until} past="as soon as a worker takes it" />
        </span>
      )}
    </div>
  );
}

/** From its event to its end. What is not over goes on counting. */
function Took({ row: { createdAt, finishedAt, personMs = 0, status } }: { row: JobRow }) {
  if (finishedAt !== undefined) return <>{duration(finishedAt - createdAt - personMs)}</>;
  return status === 'parked' ? null : <Since at={createdAt} />;
}

import type { Now } from '../../contract.ts';
import { Failure } from '../failure.tsx';
import { count, jobs, waitingJobs } from '../format.ts';
import { IgnoredEvents } from '../ignored.tsx';
import { filtersIn, JobFilter } from '../job-filter.tsx';
import { type JobList, useJobs } from '../job-list.ts';
import { JobTable } from '../job-rows.tsx';
import { Outages } from '../outages.tsx';
import { useRelay } from '../relay-facts.tsx';
import { useResource } from '../resource.ts';
import { href, route } from '../route.ts';
import { Screen } from '../screen.tsx';
import { useValue } from '../state.ts';
import { STATUSES, statusHint, statusText } from '../status.tsx';

/** All jobs with filters. */
export function JobsScreen() {
  const now = useResource<Now>('/api/now').data;
  const filters = filtersIn(useValue(route).query);
  const query = new URLSearchParams(filters).toString();
  const pages = useJobs(query);
  return (
    <Screen title="Jobs">
      <JobFilter counts={now?.counts} />
      <Outages>{({ held }) => (held.jobs > 0 ? `${waitingJobs(held)}.` : '')}</Outages>
      {pages.error && <Failure error={pages.error} retry={pages.reload} isOld={pages.rows.length > 0} />}
      {pages.others.size > 0 && (
        <button type="button" class="news-bar" onClick={pages.reload}>
          {jobs(pages.others.size)} changed since. Show the newest
        </button>
      )}
      {pages.rows.length > 0 && (
        <JobTable
          rows={pages.rows}
          caption={`Jobs, the ${filters.status === 'waiting' ? 'soonest' : 'last'} first`}
          held={new Set(now?.connections.flatMap(({ held }) => held.rows.map(({ id }) => id)))}
        />
      )}
      <End pages={pages} query={query} />
      <IgnoredEvents />
    </Screen>
  );
}

function End({ pages, query }: { pages: JobList; query: string }) {
  const isFiltered = query !== '';
  const { rows, read, cursor, isReading, error, more } = pages;
  const hasMore = cursor !== undefined;
  const shown = `${jobs(rows.length)} shown${read > rows.length ? `, of ${count(read)} searched` : ''}.`;
  return (
    <div class="list-end">
      <p role="status" class="soft">
        {isReading ? (read > 0 ? `Searching… ${shown}` : 'Loading…') : rows.length > 0 || hasMore ? shown : null}
      </p>
      {hasMore && !isReading && (
        <button type="button" onClick={more}>
          {isFiltered ? 'Search more' : 'Show more'}
        </button>
      )}
      {rows.length === 0 && !isReading && !hasMore && !error && (
        <p>{isFiltered ? <NoMatch query={query} /> : <NoJobs />}</p>
      )}
    </div>
  );
}

function NoMatch({ query }: { query: string }) {
  const status = STATUSES.find((one) => query === `status=${one}`);
  return status
    ? `No job has the status ${statusText(status)}: ${statusHint(status)?.toLowerCase()}.`
    : 'No job matches these filters.';
}

export function NoJobs() {
  return (
    <>
      No jobs yet. Each event that an automation takes becomes a job. <FirstEvent />
    </>
  );
}

/** How to get a first event. */
export function FirstEvent() {
  const { canTry, name } = useRelay();
  return canTry ? (
    <>
      <a href={href('try')}>Send an example event</a>, or run <code>npx partner-relay send issues</code>.
    </>
  ) : (
    <>
      Label an issue, or give a command in Slack. If nothing arrives, run{' '}
      <code>npx partner-relay --stage {name} doctor</code>.
    </>
  );
}

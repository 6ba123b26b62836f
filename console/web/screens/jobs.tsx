import type { Now } from '../../contract.ts';
import { Failure } from '../failure.tsx';
import { count, jobs } from '../format.ts';
import { IgnoredEvents } from '../ignored.tsx';
import { filtersIn, JobFilter } from '../job-filter.tsx';
import { type JobList, useJobs } from '../job-list.ts';
import { JobTable } from '../job-rows.tsx';
import { useRelay } from '../relay-facts.tsx';
import { useResource } from '../resource.ts';
import { href, route } from '../route.ts';
import { Screen } from '../screen.tsx';
import { useValue } from '../state.ts';

/** All jobs with filters, unfinished ones first. */
export function JobsScreen() {
  const counts = useResource<Now>('/api/now').data?.counts;
  const filters = filtersIn(useValue(route).query);
  const query = new URLSearchParams(filters).toString();
  const pages = useJobs(query);
  return (
    <Screen title="Jobs">
      <JobFilter counts={counts} />
      {pages.error && <Failure error={pages.error} retry={pages.reload} isOld={pages.rows.length > 0} />}
      {pages.others.size > 0 && (
        <button type="button" class="news-bar" onClick={pages.reload}>
          {jobs(pages.others.size)} changed since. Show the newest
        </button>
      )}
      {pages.rows.length > 0 && <JobTable rows={pages.rows} caption="Unfinished jobs, then ended jobs, newest first" />}
      <End pages={pages} isFiltered={query !== ''} />
      <IgnoredEvents />
    </Screen>
  );
}

function End({ pages, isFiltered }: { pages: JobList; isFiltered: boolean }) {
  const { rows, read, cursor, isReading, error, more } = pages;
  const hasMore = cursor !== undefined;
  const shown = `${jobs(rows.length)} shown${isFiltered ? `, of ${count(read)} searched` : ''}.`;
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
        <p>{isFiltered ? 'No job matches these filters.' : <NoJobs />}</p>
      )}
    </div>
  );
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

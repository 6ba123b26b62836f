import { useId, useState } from 'preact/hooks';
import type { ParkedGroups } from '../../contract.ts';
import { Loaded } from '../failure.tsx';
import { jobs } from '../format.ts';
import { JobActions } from '../job-actions.tsx';
import { JobTable, SelectBox } from '../job-rows.tsx';
import { NextOf, WaitsHere } from '../next.tsx';
import { Line, Text } from '../outside.tsx';
import { ReadOnlyHint, useRelay } from '../relay-facts.tsx';
import { useJob, useResource } from '../resource.ts';
import { href, jobHref } from '../route.ts';
import { Screen } from '../screen.tsx';
import { StatusMark } from '../status.tsx';
import { Ago } from '../time.tsx';

/** Hundreds of rows take long to draw, and an operator rarely needs them. */
const SHOWN = 50;

type Group = ParkedGroups['groups'][number];

/** The jobs that wait for an operator, grouped by reason. */
export function ParkedScreen() {
  const resource = useResource<ParkedGroups>('/api/parked');
  return (
    <Screen title="Parked">
      <ReadOnlyHint />
      <Loaded of={resource}>
        {({ groups, more }) => (
          <>
            {groups.length === 0 && (
              <div class="empty">
                <StatusMark of="succeeded" text="Nothing is parked" />
                <p>A job that cannot continue without you appears here, with its reason and your choices.</p>
              </div>
            )}
            <WaitsHere connections={groups.flatMap(({ jobs }) => jobs.map(({ connection }) => connection))} />
            {groups.map((group) => (
              <GroupCard key={group.key} group={group} reload={resource.reload} />
            ))}
            {more && (
              <p class="soft">
                There are more. <a href={href('jobs', undefined, { status: 'parked' })}>Show all parked jobs</a>
              </p>
            )}
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function GroupCard({ group, reload }: { group: Group; reload: () => void }) {
  const heading = useId();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { reason, help, outcomeUnknown, oldestAt, actions, jobs: rows } = group;
  const [isWhole, setWhole] = useState(false);
  const all = rows.map(({ id }) => id);
  const isOne = all.length === 1;
  const ids = isOne ? all : all.filter((id) => selected.has(id));
  const isAll = ids.length === rows.length;
  const mayChoose = useRelay().operate && !isOne;
  const select = (id: string, isSelected: boolean) => {
    const next = new Set(selected);
    if (isSelected) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  const shown = isWhole ? rows : rows.slice(0, SHOWN);
  return (
    <section class="card group" aria-labelledby={heading}>
      <header>
        <StatusMark of={outcomeUnknown ? 'unknown' : 'parked'} />
        <span class="soft">
          {jobs(rows.length)}
          {rows.length > 1 && ', the oldest'} parked <Ago at={oldestAt} />
        </span>
      </header>
      <h2 class="reason" id={heading}>
        <Text text={reason} length={240} />
      </h2>
      <p class="sentence">
        <Text text={help} />
      </p>
      {outcomeUnknown ? (
        shown.map((row) => (
          <div key={row.id} class="unknown">
            {mayChoose && <SelectBox row={row} selected={selected} select={select} />}
            <Unknown id={row.id} isOpen={isOne} summary={row.summary} reload={reload} />
          </div>
        ))
      ) : (
        <JobTable
          rows={shown}
          caption="Parked jobs with this reason"
          selected={selected}
          select={mayChoose ? select : undefined}
        />
      )}
      {!isWhole && rows.length > SHOWN && (
        <button type="button" class="news-bar" onClick={() => setWhole(true)}>
          Show {jobs(rows.length - SHOWN)} more
        </button>
      )}
      {!(isOne && outcomeUnknown) && (
        <div class="bulk">
          {mayChoose && (
            <label class="check">
              <input type="checkbox" checked={isAll} onChange={() => setSelected(new Set(isAll ? [] : all))} />
              {ids.length === 0 ? 'Select all' : `${jobs(ids.length)} selected`}
            </label>
          )}
          <JobActions
            ids={ids}
            actions={actions}
            asks={{ answer: reason }}
            done={() => {
              setSelected(new Set());
              reload();
            }}
          />
        </div>
      )}
    </section>
  );
}

/** The details of one job, which are read when the operator opens it. */
function Unknown(props: { id: string; summary: string; isOpen: boolean; reload: () => void }) {
  const { id, summary, isOpen, reload } = props;
  const [isRead, setRead] = useState(isOpen);
  const resource = useJob(id, isRead);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setRead(true)}>
      <summary>
        <Line text={summary} length={120} />
      </summary>
      {isRead && (
        <Loaded of={resource}>
          {(job) => (
            <>
              <NextOf job={job} reload={reload} />
              <p class="open">
                <a href={jobHref(id)} data-item={id}>
                  Open the job
                </a>
              </p>
            </>
          )}
        </Loaded>
      )}
    </details>
  );
}

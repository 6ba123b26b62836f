import { useState } from 'preact/hooks';
import type { LinkPage, LinkRow } from '../../contract.ts';
import { Card } from '../card.tsx';
import { ChangeLink } from '../change-link.tsx';
import { Loaded } from '../failure.tsx';
import { ServiceId, usePages } from '../id.tsx';
import { Line } from '../outside.tsx';
import { useRelay } from '../relay-facts.tsx';
import { useResource } from '../resource.ts';
import { href } from '../route.ts';
import { Screen } from '../screen.tsx';
import { SearchBox } from '../search.tsx';
import { type MarkName, StatusMark } from '../status.tsx';
import { Table } from '../table.tsx';
import { Ago } from '../time.tsx';
import { FirstEvent } from './jobs.tsx';

/** Shows which defect each issue has. */
export function LinksScreen() {
  const [find, setFind] = useState('');
  // Links do not follow the changes of jobs.
  const resource = useResource<LinkPage>(`/api/links?${new URLSearchParams({ find })}`, () => false);
  return (
    <Screen title="Links">
      <Card id="links" title="Issues and their defects">
        <SearchBox label="Find an issue" placeholder="acme/web#42" value={find} change={setFind} />
        <Loaded of={resource}>
          {({ links }) =>
            links.length > 0 ? (
              <Links rows={links} changed={resource.reload} />
            ) : (
              <p>
                {find === '' ? (
                  <>
                    No links yet. When the relay creates a defect from an issue, both appear here. <FirstEvent />
                  </>
                ) : (
                  'Not found. Write the full name, such as acme/web#42.'
                )}
              </p>
            )
          }
        </Loaded>
        <div class="actions">
          <ChangeLink changed={resource.reload} />
        </div>
      </Card>
    </Screen>
  );
}

/** The states of links, and why no job creates the defect of a claimed issue now. */
const states: Readonly<Record<LinkRow['life'] | NonNullable<LinkRow['claimRests']>, readonly [MarkName, string]>> = {
  unclaimed: ['queued', 'No defect'],
  claimed: ['running', 'Being created'],
  made: ['succeeded', 'Linked'],
  moved: ['skipped', 'Moved'],
  unreadable: ['parked', 'Cannot be read'],
  waiting: ['waiting', 'Waits to be created'],
  parked: ['parked', 'Its creation is parked'],
  discarded: ['discarded', 'Its creation was discarded'],
  gone: ['discarded', 'Its job is gone'],
};

function Links({ rows, changed }: { rows: readonly LinkRow[]; changed: () => void }) {
  const { operate } = useRelay();
  return (
    <Table
      class="links"
      caption="Issues and their defects"
      heads={[
        'Issue',
        'State',
        'Defect',
        'Connection',
        ['Issue changed', 'number'],
        ...(operate ? [['Change', 'blank'] as const] : []),
      ]}
    >
      {rows.map(({ issue, entity, title, life, defectId, connection, claimedBy, claimRests, movedTo, changedAt }) => (
        <tr key={entity}>
          <td>
            <a href={href('jobs', undefined, { subject: issue })} data-item={entity}>
              <Line text={issue} length={100} />
            </a>
            {title !== undefined && (
              <div class="news">
                <Line text={title} length={120} />
              </div>
            )}
          </td>
          <td>
            <StatusMark of={states[claimRests ?? life][0]} text={states[claimRests ?? life][1]} />
            {movedTo !== undefined && (
              <div class="news">
                to <Line text={movedTo} length={80} />
              </div>
            )}
            {claimedBy !== undefined && (
              <div class="news">
                <a href={href('jobs', claimedBy)}>Its job</a>
              </div>
            )}
          </td>
          <td>{defectId !== undefined && <Defect id={defectId} connection={connection} />}</td>
          <td class="soft" data-label={connection && 'Connection'}>
            {connection}
          </td>
          <td class="number soft" data-label="Changed">
            {changedAt !== undefined && <Ago at={changedAt} />}
          </td>
          {operate && (
            <td>
              <ChangeLink issue={issue} defectId={defectId} changed={changed} />
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}

function Defect({ id, connection }: { id: string; connection: string | undefined }) {
  return <ServiceId id={id} page={usePages(connection)('defect_id', id)} />;
}

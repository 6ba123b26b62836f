import { useState } from 'preact/hooks';
import type { LinkRow, PersonRow } from '../../contract.ts';
import { Card } from '../card.tsx';
import { ChangeLink } from '../change-link.tsx';
import { ServiceId, usePages } from '../id.tsx';
import { Line, seen } from '../outside.tsx';
import { Found } from '../pages.tsx';
import { useRelay } from '../relay-facts.tsx';
import { href } from '../route.ts';
import { Screen } from '../screen.tsx';
import { lifeMark, StatusMark } from '../status.tsx';
import { Table } from '../table.tsx';
import { Ago, At } from '../time.tsx';

/** Which issue belongs to which defect, who is who, and who has linked an account. */
export function PeopleScreen() {
  const [changes, setChanges] = useState(0);
  const changed = () => setChanges(changes + 1);
  return (
    <Screen title="Links and people">
      <Card id="links" title="Issues and their defects">
        <Found<LinkRow> path="/api/links" label="Find an issue" hint="acme/web#42" isFirst version={changes}>
          {(rows) => <Links rows={rows} changed={changed} />}
        </Found>
        <ChangeLink changed={changed} />
      </Card>
      <Card id="people" title="People">
        <Found<PersonRow> path="/api/people" label="Find a person" hint="octocat or U0123ABCD">
          {(rows) => <People rows={rows} />}
        </Found>
      </Card>
    </Screen>
  );
}

const lives: Readonly<Record<LinkRow['life'], string>> = {
  unclaimed: 'No defect',
  claimed: 'Being created',
  made: 'Linked',
  moved: 'Moved',
  unreadable: 'Cannot be read',
};

/** Why nothing creates the defect of a claimed issue at the moment. */
const rests: Readonly<Record<NonNullable<LinkRow['claimRests']>, string>> = {
  parked: 'Its creation is parked',
  discarded: 'Its creation was discarded',
  gone: 'Its job is gone',
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
            {claimRests === undefined ? (
              <StatusMark of={lifeMark(life)} text={lives[life]} />
            ) : (
              <StatusMark of={claimRests === 'parked' ? 'parked' : 'discarded'} text={rests[claimRests]} />
            )}
            {movedTo !== undefined && (
              <div class="news">
                to <Line text={movedTo} length={80} />
              </div>
            )}
            {claimedBy !== undefined && (
              <div class="news">
                <a href={href('jobs', claimedBy)}>its job</a>
              </div>
            )}
          </td>
          <td>{defectId !== undefined && <Defect id={defectId} connection={connection} />}</td>
          <td class="soft">{connection}</td>
          <td class="number soft">{changedAt !== undefined && <Ago at={changedAt} />}</td>
          {operate && (
            <td>
              <ChangeLink issue={issue} changed={changed} />
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

function People({ rows }: { rows: readonly PersonRow[] }) {
  return (
    <Table class="people" caption="People" heads={['Person', 'Connection', 'User of the service', 'Linked account']}>
      {rows.map(({ platform, id, connection, user, linked }) => (
        <tr key={`${platform} ${id} ${connection}`}>
          <td>
            <a href={href('jobs', undefined, { person: id })} data-item={`${platform} ${id} ${connection}`}>
              <Line text={id} length={60} />
            </a>{' '}
            <span class="soft">{platform === 'slack' ? 'Slack' : 'GitHub'}</span>
          </td>
          <td class="soft">{connection}</td>
          <td>
            {user === undefined ? (
              <span class="soft">not looked up lately, or not found</span>
            ) : (
              <Line text={user} length={80} />
            )}
          </td>
          <td>
            {linked === undefined ? (
              <span class="soft">not linked</span>
            ) : (
              <>
                <StatusMark
                  of={linked.dead === undefined ? 'succeeded' : 'failed'}
                  text={linked.dead === undefined ? 'Linked' : 'No longer valid'}
                />
                <div class="news">
                  <Line text={linked.resource} length={100} />, since <At at={linked.since} />:{' '}
                  {linked.scopes.map(seen).join(', ')}
                  {linked.dead !== undefined && (
                    <>
                      . <Line text={linked.dead} />
                    </>
                  )}
                </div>
              </>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

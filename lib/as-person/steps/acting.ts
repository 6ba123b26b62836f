import { type Listing, toolsIn } from '../../config/mcp.ts';
import type { RelayConfig } from '../../config/schema.ts';
import { callOf, type Fields } from '../../config/template.ts';
import { idAt, readRows } from '../../config/tool-answer.ts';
import { NotDone } from '../../engine/record/interruption.ts';
import type { Acting, ActingRun, ActingSteps, AsPerson } from '../../engine/run/acting.ts';
import { AccountNeeded } from '../grants/errors.ts';
import type { Holder } from '../grants/grant.ts';
import { type McpEndpointOptions, openMcpEndpoint } from '../grants/mcp-endpoint.ts';
import type { Sessions } from '../grants/tool-calls.ts';
import { createVault } from '../grants/vault.ts';
import { McpError } from '../protocol/errors.ts';
import { createToolAccess, type ToolAccess } from './access.ts';
import { createToolChanges } from './changes.ts';
import { createKnownTools } from './known-tools.ts';

interface ActingOptions extends Omit<McpEndpointOptions, 'connection' | 'limits' | 'lane' | 'waitUntil' | 'sessions'> {
  config: RelayConfig;
}

/** Acts as people in this process, through the MCP endpoints of all connections. */
export function createActing({ config, ...options }: ActingOptions): Acting {
  const { secrets, randomBytes, clock } = options;
  const sessions: Sessions = new Map();
  const knownTools = createKnownTools(clock, (connection) => toolsIn(config.connections[connection]?.mcp.commands));
  return {
    // Uses the key that seals grants.
    ...createVault(secrets, randomBytes),
    wordsOf: (error) => (error instanceof McpError || error instanceof AccountNeeded ? error.inOwnWords : undefined),
    open: (run) =>
      stepsOf(
        run,
        createToolAccess({
          ...run,
          knownTools,
          open: (asked) => openMcpEndpoint({ ...options, ...asked, sessions }),
        }),
      ),
  };
}

function stepsOf(run: ActingRun, access: ToolAccess): ActingSteps {
  const make = createToolChanges(run, access);

  function asPerson(holder: Holder): AsPerson {
    return {
      async linked() {
        const grant = await access.grantOf(holder);
        if (!grant) return 'no';
        return grant.death ? 'dead' : 'yes';
      },
      read: (step, call, keep) => access.read(holder, step, call, keep),
      change: (step, call, keep) => make({ holder, step, call, keep, unclear: 'this was done' }),
      async write(step, use, fields, unclear) {
        const { id: path, lookUp } = use;
        const { id } = await make<{ id: string | number | undefined }>({
          holder,
          step,
          call: callOf(use, fields),
          keep: (answer) => ({ id: path === undefined ? undefined : idAt(answer, path) }),
          unclear,
          find: lookUp && ((read, look) => findMarked(read, look, lookUp, fields)),
        });
        return ID.test(String(id)) ? id : undefined;
      },
    };
  }

  return { as: asPerson, flush: access.flush };
}

/** Records and public comments show the id, so a text that may be the service's own words does not count as an id. */
const ID = /^[\w.:/-]{1,64}$/;

async function findMarked(
  read: AsPerson['read'],
  step: string,
  listing: Listing,
  fields: Fields,
): Promise<{ id: string | number } | undefined> {
  const found = await read(step, callOf(listing, fields), (answer) => {
    const listed = readRows(answer, listing);
    if (!listed) throw new NotDone(`The result of ${listing.tool} has no list at ${listing.rows}`);
    const row = listed.find((one) => one.text.includes(String(fields.marker)));
    return row ? { id: row.id } : null;
  });
  return found ?? undefined;
}

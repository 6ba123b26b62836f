import type { AuthorizationServer } from 'oauth4webapi';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { OAuthHttp } from '../protocol/oauth/oauth-http.ts';
import { registerClient } from '../protocol/oauth/registration.ts';

/** The relay's registration at an authorization server, for one connection and redirect URI. */
interface Registration {
  issuer: string;
  clientId: string;
  /** Epoch milliseconds. */
  registeredAt: number;
}

/**
 * Registrations in the table: one for each connection and redirect URI. Each grant remembers the client id that it was
 * issued to, so that a new registration breaks no grant.
 */
export type Registrations = ReturnType<typeof createRegistrations>;

interface RegistrationsOptions {
  connection: string;
  table: Table;
  http: OAuthHttp;
  clock: () => number;
}

export function createRegistrations({ connection, table, http, clock }: RegistrationsOptions) {
  return {
    /**
     * The stored registration, or a new one.
     * @throws as `registerClient`
     */
    async of(server: AuthorizationServer, redirectUri: string): Promise<Registration> {
      const key = keys.oauthClient(connection, redirectUri);
      const kept = (await table.get(key)) as Registration | undefined;
      if (kept?.issuer === server.issuer) return kept;
      const made = {
        issuer: server.issuer,
        clientId: await registerClient(server, redirectUri, http),
        registeredAt: clock(),
      };
      // Two people may link at the same moment. Both use the registration that was stored first.
      const isFirst = await table.put(
        { ...key, ...made },
        kept
          ? { expression: '#clientId = :before', values: { before: kept.clientId } }
          : { expression: 'attribute_not_exists(#pk)' },
      );
      if (isFirst) return made;
      const first = (await table.get(key)) as Registration | undefined;
      return first?.issuer === server.issuer ? first : made;
    },
    /** Forgets it, unless another one has replaced it. */
    async forget(redirectUri: string, clientId: string): Promise<void> {
      await table.delete(keys.oauthClient(connection, redirectUri), {
        expression: '#clientId = :clientId',
        values: { clientId },
      });
    },
  };
}

/** The types of the parts of oidc-provider that a test uses. The package has none. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    AccessToken: { find(token: string): Promise<{ aud?: string; accountId?: string } | undefined> };
    Client: { find(clientId: string): Promise<{ tokenEndpointAuthMethod: string } | undefined> };
  }
}

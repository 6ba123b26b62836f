/** The part of oidc-provider that the test of a second authorization server uses; it has no declarations of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    AccessToken: { find(token: string): Promise<{ aud?: string; accountId?: string } | undefined> };
    Client: { find(clientId: string): Promise<{ tokenEndpointAuthMethod: string } | undefined> };
  }
}

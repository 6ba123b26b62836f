import { codes, McpRefusal, type RequestId } from './mcp-refusal.ts';
import { isRevision, type Revision, revisions } from './revisions.ts';

/**
 * "A client offering a newer revision fails the handshake right after OAuth succeeds." How it fails is not shown: an
 * error is assumed. The protocol itself would have the service offer its newest revision (`counterOffers`), which a
 * client that speaks only newer ones then turns down.
 */
export function negotiate(
  offered: unknown,
  id: RequestId,
  counterOffers: boolean,
): { revision: Revision; result: object } {
  if (!isRevision(offered) && !counterOffers) {
    const message = `Unsupported protocol version; supported are ${revisions.join(', ')}`;
    throw new McpRefusal(400, message, { code: codes.invalidParams, id });
  }
  const revision = isRevision(offered) ? offered : revisions[0];
  return {
    revision,
    result: {
      protocolVersion: revision,
      capabilities: { tools: {} },
      serverInfo: { name: 'project-management-sandbox', version: '1.0.0' },
    },
  };
}

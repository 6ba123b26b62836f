import { codes, McpRefusal, type RequestId } from './mcp-refusal.ts';
import { isRevision, revisions } from './revisions.ts';

/**
 * "A client offering a newer revision fails the handshake right after OAuth succeeds." How it fails is not shown: an
 * error is assumed.
 */
export function negotiate(offered: unknown, id: RequestId): object {
  if (!isRevision(offered)) {
    const message = `Unsupported protocol version; supported are ${revisions.join(', ')}`;
    throw new McpRefusal(400, message, { code: codes.invalidParams, id });
  }
  return {
    protocolVersion: offered,
    capabilities: { tools: {} },
    serverInfo: { name: 'project-management-sandbox', version: '1.0.0' },
  };
}

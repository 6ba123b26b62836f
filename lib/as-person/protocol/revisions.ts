/**
 * The revisions of the protocol that the service negotiates, newest first (docs/partner-api.md#mcp-revisions). A client
 * that offers a newer one fails the handshake.
 */
export const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type Revision = (typeof revisions)[number];

export function isRevision(value: unknown): value is Revision {
  return revisions.some((revision) => revision === value);
}

/** Whether requests after the handshake name the revision in a header (MCP 2025-06-18, Transports). */
export const namesRevisionInHeader = (revision: Revision): boolean => revision >= '2025-06-18';

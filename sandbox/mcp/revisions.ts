/** What the service supports (docs/partner-api.md#mcp-revisions), the newest first. */
export const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export function isRevision(value: unknown): boolean {
  return revisions.some((revision) => revision === value);
}

/** What the service supports (docs/partner-api.md#mcp-revisions), the newest first. */
export const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export type Revision = (typeof revisions)[number];

export function isRevision(value: unknown): value is Revision {
  return revisions.some((revision) => revision === value);
}

/** What a revision has that those before it lack. */
export function has(revision: Revision, feature: keyof typeof since): boolean {
  return revision >= since[feature];
}

const since = {
  annotations: '2025-03-26',
  titles: '2025-06-18',
  structuredContent: '2025-06-18',
} as const;

/**
 * The files for acting as a person. A relay works without them; other files import only `lib/as-person/index.ts` of
 * them.
 */
export const actingAsPerson: readonly string[] = [
  'bench/tool-calls.ts',
  'cli/mcp-doctor.ts',
  'cli/mcp.ts',
  'functions/account-link.ts',
  'lib/as-person',
  'test/as-person',
];

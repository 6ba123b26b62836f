/** What acts as a person. A relay works without these files; of them, the others know only `lib/as-person/index.ts`. */
export const actingAsPerson: readonly string[] = [
  'bench/tool-calls.ts',
  'cli/mcp-doctor.ts',
  'cli/mcp.ts',
  'functions/account-link.ts',
  'lib/as-person',
  'test/as-person',
];

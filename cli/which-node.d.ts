/** The types of which-node.js. That file is JavaScript, because an older Node must run it. */
export function whichNode(
  here: string,
  others: readonly { version: string; path: string }[],
  name?: string,
): { path?: string; warning?: string } | { fault: string };

/** The types of which-node.js. That file is JavaScript, because an older Node must run it, too. */
export function whichNode(
  here: string,
  own: string | undefined,
): { runs: 'own' } | { runs: 'here'; warning?: string } | { fault: string };

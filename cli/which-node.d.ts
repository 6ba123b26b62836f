/** The types of which-node.js, which an older Node runs, too. */
export function whichNode(
  here: string,
  own: string | undefined,
): { runs: 'own' } | { runs: 'here'; warning?: string } | { fault: string };

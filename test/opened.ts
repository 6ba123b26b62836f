type Close = () => unknown;

/** Open resources: of the test file, and of the test that runs. */
const scopes: Close[][] = [[]];

/** Closes a resource at the end of the test that opens it, or else of the file. */
export function closeLater(close: Close): void {
  scopes.at(-1)?.push(close);
}

export const beginScope = (): void => void scopes.push([]);

export async function endScope(): Promise<void> {
  await Promise.all((scopes.pop() ?? []).map((close) => close()));
}

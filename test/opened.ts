type Close = () => unknown;

/** What is open: since the file began, and since its test that runs began. */
const scopes: Close[][] = [[]];

/** Has it closed at the end of the test that opens it, or else of the file. */
export function closeLater(close: Close): void {
  scopes.at(-1)?.push(close);
}

export const beginScope = (): void => void scopes.push([]);

export async function endScope(): Promise<void> {
  await Promise.all((scopes.pop() ?? []).map((close) => close()));
}

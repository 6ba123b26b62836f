/** Calls `fetch`, and reports why a URL cannot be reached. `fetch` hides that in its error's cause. */
export async function reach(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`${url} cannot be reached: ${cause}`, { cause: error });
  }
}

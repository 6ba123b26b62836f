/** Asks a console as its page does. @param address the printed address, with the token */
export async function askConsole<T>(
  address: string,
  path: string,
  body?: object,
): Promise<{ status: number; answer: T }> {
  const { origin, hash } = new URL(address);
  const headers = {
    origin,
    authorization: `Bearer ${hash.replace('#token=', '')}`,
    ...(body && { 'content-type': 'application/json' }),
  };
  const asked = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const response = await fetch(origin + path, { ...asked, headers });
  return { status: response.status, answer: (await response.json()) as T };
}

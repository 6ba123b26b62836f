import type { HttpHandler } from './http-front.ts';

/** The routes of account-link. */
export function linkRoutes(pages: HttpHandler, connections: Readonly<Record<string, unknown>>) {
  const callbacks = Object.keys(connections).map((name) => [`GET /link/callback/${name}`, pages] as const);
  return { 'GET /link/start': pages, 'POST /link/start': pages, ...Object.fromEntries(callbacks) };
}

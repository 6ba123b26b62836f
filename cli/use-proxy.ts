/**
 * Makes `fetch` use the proxy of the environment, as curl does. Calls without https, such as to this machine, stay
 * direct.
 *
 * @throws {Error} if this version of Node cannot
 */
export function useProxy(): void {
  const { HTTPS_PROXY, https_proxy = HTTPS_PROXY, NO_PROXY, no_proxy = NO_PROXY } = process.env;
  if (!https_proxy) return;
  // Loaded only when needed: most commands need no HTTP.
  const http = process.getBuiltinModule('node:http');
  // Some platforms have an older Node 24 (decision 0001).
  if (!('setGlobalProxyFromEnv' in http)) {
    throw new Error(`HTTPS_PROXY needs Node 24.14 or newer, and this is ${process.version}`);
  }
  http.setGlobalProxyFromEnv({ https_proxy, no_proxy });
}

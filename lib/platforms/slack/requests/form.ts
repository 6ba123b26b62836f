export const formIn = (body: Uint8Array): URLSearchParams =>
  new URLSearchParams(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));

/**
 * Returns true if Slack only checks that the URL answers over TLS. Such a request needs no signature, because it
 * triggers nothing.
 * https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling
 */
export function isCertificateCheck(body: Uint8Array): boolean {
  const form = formIn(body);
  return form.get('ssl_check') === '1' && !form.has('command') && !form.has('payload');
}

import { state } from './state.ts';

const KEY = 'partner-relay-token';
const OTHER_TABS_ANSWER_WITHIN_MS = 300;

/** The console's token; undefined while the page has none. */
export const token = state<string | undefined>(undefined);
/** True after the server refused the token, for example because a new start of the relay has a new one. */
export const isRefused = state(false);

/**
 * Takes the token from the address `#token=…` and removes it there, to keep it out of the history and of shared links.
 * The tab keeps it until it is closed. A tab that was opened from a link asks the console's other tabs.
 */
export async function openSession(): Promise<void> {
  if (takeFromAddress()) return;
  token.value = sessionStorage.getItem(KEY) ?? (await askOtherTabs());
  if (token.value) sessionStorage.setItem(KEY, token.value);
}

/** @returns whether the address had a token */
export function takeFromAddress(): boolean {
  const [, found, rest = ''] = /^#token=([^&]+)&?(.*)$/.exec(location.hash) ?? [];
  if (found === undefined) return false;
  const given = decoded(found);
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, '', rest === '' ? '#/' : `#${rest}`);
  token.value = given;
  isRefused.value = false;
  return true;
}

/** Decodes a part of the address, which a person may have typed. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Gives the token to other tabs of the console. Only pages of the same origin can use the channel. */
export function answerOtherTabs(): void {
  new BroadcastChannel(KEY).addEventListener('message', ({ data, target }) => {
    if (data === 'who has a token?' && token.value && !isRefused.value) {
      (target as BroadcastChannel).postMessage({ token: token.value });
    }
  });
}

function askOtherTabs(): Promise<string | undefined> {
  const channel = new BroadcastChannel(KEY);
  return new Promise<string | undefined>((resolve) => {
    channel.addEventListener('message', ({ data }) => {
      if (typeof data?.token === 'string') resolve(data.token);
    });
    channel.postMessage('who has a token?');
    setTimeout(() => resolve(undefined), OTHER_TABS_ANSWER_WITHIN_MS);
  }).finally(() => channel.close());
}

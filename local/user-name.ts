import { userInfo } from 'node:os';

/** The name of this machine's user. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that its system does not list.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

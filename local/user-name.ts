import { userInfo } from 'node:os';

/** The user of this machine. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container can run as a user that its system does not list.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

import type { Changes } from './changes.ts';

/** The changes of a relay in this process, from what its functions log. */
export interface LoggedChanges extends Changes {
  saw(line: unknown): void;
}

type Log = Pick<Console, 'info' | 'warn' | 'error'>;

/** A log that also hands each line to `saw`. */
export function watchedLog(log: Log, saw: (line: unknown) => void): Log {
  const both = (write: Log['info']) => (line: unknown) => {
    write(line);
    saw(line);
  };
  return { info: both(log.info), warn: both(log.warn), error: both(log.error) };
}

export function createLoggedChanges(): LoggedChanges {
  const listeners = new Set<(jobIds: readonly string[]) => void>();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    saw(line) {
      const id = typeof line === 'object' && line !== null && 'jobId' in line ? line.jobId : undefined;
      const jobIds = typeof id === 'string' ? [id] : [];
      for (const listener of listeners) listener(jobIds);
    },
  };
}

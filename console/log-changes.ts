type Log = Pick<Console, 'info' | 'warn' | 'error'>;

/** A log that also passes each line to `saw`. */
export function watchedLog(log: Log, saw: (line: unknown) => void): Log {
  const both = (write: Log['info']) => (line: unknown) => {
    write(line);
    saw(line);
  };
  return { info: both(log.info), warn: both(log.warn), error: both(log.error) };
}

/** The changes of a relay in this process, from the log of its functions. */
export function createLoggedChanges() {
  const listeners = new Set<(jobIds: readonly string[]) => void>();
  return {
    listen(listener: (jobIds: readonly string[]) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    saw(line: unknown): void {
      const id = typeof line === 'object' && line !== null && 'jobId' in line ? line.jobId : undefined;
      const jobIds = typeof id === 'string' ? [id] : [];
      for (const listener of listeners) listener(jobIds);
    },
  };
}

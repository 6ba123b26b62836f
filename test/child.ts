import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program of this repository in its own process. */
export interface Child {
  process: ChildProcess;
  /** The output so far. */
  output(): string;
  /** Resolves when the output contains the text. @throws {Error} if the program ends before */
  printed(text: string | RegExp): Promise<readonly string[]>;
  /** Resolves to its exit code. */
  ended(): Promise<number | null>;
  kill(): Promise<void>;
}

/** Variables that a developer's shell or GitHub Actions may have set. */
const OF_SHELL = /^(?:PARTNER|GITHUB|SLACK)_|^RELAY_CONFIG$/;

/**
 * Starts a program.
 *
 * @param words the file, and its arguments
 * @param variables in addition to those of this process that are not settings of the relay
 */
export function startChild(words: readonly string[], cwd: string, variables: Record<string, string> = {}): Child {
  const inherited = Object.entries(process.env).filter(([name]) => !OF_SHELL.test(name));
  const child = spawn(process.execPath, words, { cwd, env: { ...Object.fromEntries(inherited), ...variables } });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      for (const look of listeners) look();
    });
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    process: child,
    output: () => output,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = typeof text === 'string' ? output.includes(text) && [text] : text.exec(output);
          if (!found) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        child.once('exit', (code) => reject(new Error(`ended with ${code} before it printed ${text}:\n${output}`)));
        look();
      }),
    async ended() {
      if (!hasEnded()) await once(child, 'close');
      return child.exitCode;
    },
    async kill() {
      if (hasEnded()) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

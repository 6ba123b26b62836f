import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program of this repository in a process of its own. */
export interface Child {
  process: ChildProcess;
  /** What it has printed until now. */
  output(): string;
  /** Resolves once it printed that. @throws {Error} if it ends before */
  printed(text: string | RegExp): Promise<readonly string[]>;
  /** Resolves to its exit code. */
  ended(): Promise<number | null>;
  kill(): Promise<void>;
}

/** What the shell of a developer, or GitHub Actions, may have set. */
const OF_SHELL = /^(?:PARTNER|GITHUB|SLACK)_|^RELAY_CONFIG$/;

/**
 * @param words the file, and its arguments
 * @param variables beside those of this process that are no settings of the relay
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

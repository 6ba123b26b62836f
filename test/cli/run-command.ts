import type { Command } from 'commander';
import { vi } from 'vitest';
import type { Cli } from '../../cli/cli.ts';
import { relayProgram } from '../../cli/program.ts';
import type { Target } from '../../cli/target.ts';
import type { TestRelay } from '../relay.ts';

/** A test's relay, as the target of commands. */
export const targetOf = ({ url, stores }: Pick<TestRelay, 'url' | 'stores'>, more: Partial<Target> = {}): Target => ({
  githubWebhookUrl: url,
  slackWebhookUrl: undefined,
  stores,
  ...more,
});

/** Runs `partner-relay` with these words. */
export function parseRelay(given: Partial<Cli>, words: readonly string[]): Promise<unknown> {
  const program = relayProgram(given);
  quiet(program);
  return program.parseAsync(words, { from: 'user' });
}

/** Runs `partner-relay`. @returns its output */
export const runRelay = (given: Partial<Cli>, ...words: string[]) => printed(() => parseRelay(given, words));

/** Runs `partner-relay` on a test's relay, by its clock. @returns its output */
export const runRelayOf = (relay: TestRelay, words: readonly string[], more?: Partial<Target>): Promise<string> =>
  byClockOf(relay, () => {
    const open = async () => targetOf(relay, more);
    return runRelay({ open, readConfig: async () => relay.runtime.config }, ...words);
  });

/** @returns the output of an action, even if it fails as expected */
export async function printed(act: () => Promise<unknown>, expected?: string): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await act().catch((error: Error) => {
      if (expected === undefined || error.message !== expected) throw error;
    });
    return log.mock.calls.flat().join('\n');
  } finally {
    log.mockRestore();
  }
}

export async function byClockOf<T>({ clock }: Pick<TestRelay, 'clock'>, act: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: clock.now });
  try {
    return await act();
  } finally {
    vi.useRealTimers();
  }
}

function quiet(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => {} });
  for (const one of command.commands) quiet(one);
}

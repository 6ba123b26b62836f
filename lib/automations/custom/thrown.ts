import { Interruption } from '../../engine/record/interruption.ts';
import { onOneLine } from '../../outside.ts';
import { cutToLength } from '../../text.ts';
import type { CustomAutomations } from '../../triggers/custom-automation.ts';

const LONGEST_MESSAGE = 200;

/**
 * An error of the team's code for the records and the log. Only errors of the language keep their message, because
 * other messages may contain parts of a payload.
 */
export class ThrownByTeam extends Error {
  override readonly name = 'ThrownByTeam';
  readonly #thrown: unknown;

  constructor(thrown: unknown) {
    const { name, message, stack = '' } = thrown instanceof Error ? thrown : new Error('no Error');
    const places = stack.slice(stack.indexOf(message) + message.length).match(/^ +at .*$/gm) ?? [];
    const isOfLanguage = thrown instanceof TypeError || thrown instanceof ReferenceError;
    super(`${name}${isOfLanguage ? `: ${message}` : ''} ${places[0]?.trim() ?? ''}`.trim());
    this.stack = [this.message, ...places].join('\n');
    this.#thrown = thrown;
  }

  /** True if the file has to be fixed. A request without an answer is a TypeError, too, but has a cause. */
  get isMistake(): boolean {
    const isOfLanguage = [TypeError, ReferenceError, SyntaxError].some((kind) => this.#thrown instanceof kind);
    return isOfLanguage && (this.#thrown as Error).cause === undefined;
  }

  /**
   * Returns, for example, `RangeError: no place for 12 at automations/mine.ts:6`. Includes the message only where
   * people may read it.
   * @param file the team's file
   */
  inWords(file: string, { showsErrors }: Pick<CustomAutomations, 'showsErrors'>): string {
    const { name, message } =
      this.#thrown instanceof Error ? this.#thrown : { name: 'no Error', message: String(this.#thrown) };
    const line = new RegExp(`/${file}(?:\\?changed=[\\w.-]+)?(:\\d+)`).exec(this.stack ?? '')?.[1] ?? '';
    const said =
      showsErrors || this.#thrown instanceof UnknownStep ? `: ${cutToLength(message, LONGEST_MESSAGE, '…')}` : '';
    return onOneLine(`${name}${said} at ${file}${line}`);
  }
}

/** The code calls a step that does not exist, with a name close to an existing one. */
export class UnknownStep extends TypeError {}

/** The team's code returned something wrong. The message is the relay's own. */
export class TeamMistake extends Error {}

/** Calls the team's code. @throws {ThrownByTeam | TeamMistake | Interruption} */
export function ofTeam<T>(code: () => T): T {
  try {
    return code();
  } catch (error) {
    throw error instanceof Interruption || error instanceof TeamMistake ? error : new ThrownByTeam(error);
  }
}

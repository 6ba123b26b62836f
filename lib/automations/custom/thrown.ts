import { Interruption } from '../../engine/record/interruption.ts';
import { onOneLine } from '../../outside.ts';
import { cutToLength } from '../../text.ts';
import type { CustomAutomations } from '../../triggers/custom-automation.ts';

const LONGEST_MESSAGE = 200;

/** What the code of a team threw, as the records and the log may have it: its words may be made of a payload. */
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

  /** Whether the file has to be repaired. That a request got no answer is a TypeError, too, which has a cause. */
  get isMistake(): boolean {
    const isOfLanguage = [TypeError, ReferenceError, SyntaxError].some((kind) => this.#thrown instanceof kind);
    return isOfLanguage && (this.#thrown as Error).cause === undefined;
  }

  /**
   * `RangeError: no place for 12 at automations/mine.ts:6`, with its message where people may read it.
   * @param file of the team
   */
  inWords(file: string, { showsErrors }: Pick<CustomAutomations, 'showsErrors'>): string {
    const { name, message } =
      this.#thrown instanceof Error ? this.#thrown : { name: 'no Error', message: String(this.#thrown) };
    const line = new RegExp(`/${file}(?:\\?changed=[\\d.]+)?(:\\d+)`).exec(this.stack ?? '')?.[1] ?? '';
    const said =
      showsErrors || this.#thrown instanceof UnknownStep ? `: ${cutToLength(message, LONGEST_MESSAGE, '…')}` : '';
    return onOneLine(`${name}${said} at ${file}${line}`);
  }
}

/** A file calls a step that does not exist, and almost has the name of another. */
export class UnknownStep extends TypeError {}

/** What is wrong with what the code of a team returns, in the words of the relay. */
export class TeamMistake extends Error {}

/** Calls code of a team. @throws {ThrownByTeam | TeamMistake | Interruption} */
export function ofTeam<T>(code: () => T): T {
  try {
    return code();
  } catch (error) {
    throw error instanceof Interruption || error instanceof TeamMistake ? error : new ThrownByTeam(error);
  }
}

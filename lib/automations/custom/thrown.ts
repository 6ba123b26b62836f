import { Interruption } from '../../engine/record/interruption.ts';

/** What the code of a team threw, as the records and the log may have it: its words may be made of a payload. */
export class ThrownByTeam extends Error {
  override readonly name = 'ThrownByTeam';

  constructor(thrown: unknown) {
    const { name, message, stack = '' } = thrown instanceof Error ? thrown : new Error('no Error');
    const places = stack.slice(stack.indexOf(message) + message.length).match(/^ +at .*$/gm) ?? [];
    const isOfLanguage = thrown instanceof TypeError || thrown instanceof ReferenceError;
    super(`${name}${isOfLanguage ? `: ${message}` : ''} ${places[0]?.trim() ?? ''}`.trim());
    this.stack = [this.message, ...places].join('\n');
  }
}

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

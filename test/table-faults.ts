import { setImmediate } from 'node:timers/promises';
import { type Carry, carryOutTwice, LOSES_ONE_IN, losingAnswers } from '../local/world/aws.ts';
import { Process } from './fuzz/process.ts';

/** Faults of the requests to AWS. `isLike` gets their input as JSON. */
export interface TableFaults {
  /**
   * Loses the answer to the next matching request. The request is carried out, and the SDK repeats it.
   * @param meanwhile runs before the sender notices
   */
  loseAnswer(isLike: (input: string) => boolean, meanwhile?: () => Promise<void>): void;
  /** From the next matching request on, carries out nothing until `goOn`, as after a crash. */
  stopAt(isLike: (input: string) => boolean): void;
  goOn(): void;
  /** The number of answers that {@link loseAnswer} lost. */
  lost: number;
}

/** Faults on demand, and answers that are lost sometimes. */
export function createTableFaults(): { faults: TableFaults; carry: Carry } {
  let loses: { isLike: (input: string) => boolean; meanwhile: (() => Promise<void>) | undefined } | undefined;
  let stops: ((input: string) => boolean) | undefined;
  const faults: TableFaults = {
    lost: 0,
    loseAnswer(isLike, meanwhile) {
      loses = { isLike, meanwhile };
    },
    stopAt(isLike) {
      stops = isLike;
    },
    goOn() {
      stops = undefined;
    },
  };
  const carryOut: Carry = async (answer) => {
    await setImmediate();
    return answer();
  };
  const now = losingAnswers(LOSES_ONE_IN, carryOut);
  async function underFaults(...[answer, command]: Parameters<Carry>): Promise<object> {
    const input = stops || loses ? JSON.stringify(command.input) : '';
    if (stops?.(input)) {
      stops = () => true;
      throw Object.assign(new Error('the answer is lost'), { code: 'ECONNRESET' });
    }
    if (!loses?.isLike(input)) return now(answer, command);
    const { meanwhile } = loses;
    loses = undefined;
    faults.lost++;
    return carryOutTwice(() => carryOut(answer, command), meanwhile);
  }
  return { faults, carry: (...request) => Process.pass(() => underFaults(...request), true) };
}

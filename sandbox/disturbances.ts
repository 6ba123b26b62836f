import { type Answer, disturbed, type ErrorAnswer } from './answer.ts';
import { disturbancesAt, type Fault, type When } from './faults.ts';

/** The answer with the current faults applied; null for a cut connection. */
export function disturbance(
  faults: readonly Fault[],
  when: When,
  answer: Answer,
  errorAnswer?: ErrorAnswer,
): Answer | null {
  const fault = disturbancesAt(faults, when).find(({ kind }) => kind !== 'latency');
  return fault === undefined ? answer : disturbed(fault, answer, errorAnswer);
}

export async function delay(
  sleep: (ms: number) => Promise<unknown>,
  faults: readonly Fault[],
  when: When,
): Promise<void> {
  for (const fault of disturbancesAt(faults, when)) {
    if (fault.kind !== 'latency') continue;
    await sleep(fault.ms + Math.random() * Math.max(0, (fault.toMs ?? fault.ms) - fault.ms));
  }
}

/** How far the clock is ahead for this request. */
export function skewMsOf(faults: readonly Fault[]): number {
  return faults.reduce((total, fault) => total + (fault.kind === 'clock-skew' ? fault.seconds * 1000 : 0), 0);
}

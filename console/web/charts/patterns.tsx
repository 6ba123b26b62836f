import type { Period } from '../../contract.ts';

/** The names of periods, in the order of the legend. */
export const periodNames: Readonly<Record<Period['is'], string>> = {
  queue: 'in the queue',
  budget: 'waiting for the budget',
  flight: 'call in flight',
  work: 'at work',
  retry: 'waiting to retry',
  answer: 'waiting to check whether it was created',
  sleep: 'sleeping',
  outage: 'calls stopped',
  operator: 'waiting for a person',
};

/** Fills that differ in pattern as well as in colour. Drawn once per page. */
export function Patterns() {
  return (
    <svg width="0" height="0" class="patterns" aria-hidden="true">
      <defs>
        <Hatch id="fill-budget" angle={45} />
        <Hatch id="fill-retry" angle={-45} />
        <Hatch id="fill-answer" angle={0} />
        <Hatch id="fill-outage" angle={90} />
        <pattern id="fill-sleep" width="6" height="6" patternUnits="userSpaceOnUse">
          <rect width="6" height="6" class="ground sleep" />
          <circle cx="3" cy="3" r="1.1" class="ink sleep" />
        </pattern>
        <pattern id="fill-operator" width="8" height="8" patternUnits="userSpaceOnUse">
          <rect width="8" height="8" class="ground operator" />
          <path d="M0 4h8M4 0v8" class="stroke operator" />
        </pattern>
      </defs>
    </svg>
  );
}

function Hatch({ id, angle }: { id: string; angle: number }) {
  const kind = id.replace('fill-', '');
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform={`rotate(${angle})`}>
      <rect width="6" height="6" class={`ground ${kind}`} />
      <path d="M0 0v6" class={`stroke ${kind}`} />
    </pattern>
  );
}

const plain = new Set<Period['is']>(['queue', 'flight', 'work']);

/** The attributes of a bar of this kind. */
export function fillOf(is: Period['is']): { class: string; fill?: string } {
  return plain.has(is) ? { class: `bar ${is}` } : { class: 'bar patterned', fill: `url(#fill-${is})` };
}

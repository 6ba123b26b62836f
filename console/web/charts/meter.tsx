import type { ComponentChildren } from 'preact';
import { count } from '../format.ts';
import { Line, seen } from '../outside.tsx';

/** How much of a limit is used. */
export function Meter(props: {
  label: string;
  used: number;
  limit: number;
  unit: string;
  children?: ComponentChildren;
}) {
  const { label, used, limit, unit, children } = props;
  const part = Math.min(1, used / limit);
  return (
    <div class="meter">
      <div class="meter-head">
        <span>
          <Line text={label} length={80} />
        </span>
        <span>
          <strong>{count(used)}</strong>{' '}
          <span class="soft">
            of {count(limit)} {unit}
          </span>
        </span>
      </div>
      <svg role="img" aria-label={`${seen(label)}: ${count(used)} of ${count(limit)} ${unit}`} height="8" width="100%">
        <rect class="track" width="100%" height="8" rx="4" />
        {used > 0 && <rect class={part >= 0.9 ? 'level high' : 'level'} width={`${part * 100}%`} height="8" rx="4" />}
      </svg>
      {children && <p class="soft small">{children}</p>}
    </div>
  );
}

import { count } from '../format.ts';

/** Shows how much of a limit of calls is used. */
export function Meter({ label, used, limit }: { label: string; used: number; limit: number }) {
  const part = Math.min(1, used / limit);
  const text = `${label}: ${count(used)} of ${count(limit)} calls`;
  return (
    <span class="meter" title={text}>
      <span class="meter-head">
        <span class="soft">{label}</span>
        <span>
          <strong>{used === 0 ? 'no' : count(used)}</strong>{' '}
          <span class="soft">{used === 0 ? 'calls' : `of ${count(limit)} calls`}</span>
        </span>
      </span>
      <svg role="img" aria-label={text} height="6" width="100%">
        <rect class="track" width="100%" height="6" rx="3" />
        {used > 0 && <rect class={part >= 0.9 ? 'level high' : 'level'} width={`${part * 100}%`} height="6" rx="3" />}
      </svg>
    </span>
  );
}

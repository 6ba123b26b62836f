import type { JSX } from 'preact';

/** Drawn on 16 × 16 in the colour of the text. Icons are decoration: the text beside each has the same meaning. */
const paths = {
  now: <path d="M1.5 8.5h3l2-5 3 9.5 2-4.5h3" />,
  jobs: <path d="M2 4h12M2 8h12M2 12h8" />,
  parked: <path d="M5.2 2h5.6L14 5.2v5.6L10.8 14H5.2L2 10.8V5.2zM8 5v3.5M8 11v.1" />,
  links: (
    <path d="M6.5 9.5 9.5 6.5M7.5 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4L11.5 8.5M8.5 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4L4.5 7.5" />
  ),
  try: <path d="M6 2v4L2.5 12.5A1 1 0 0 0 3.4 14h9.2a1 1 0 0 0 .9-1.5L10 6V2M4.8 2h6.4M4.6 10h6.8" />,
  back: <path d="M9.5 3 4.5 8l5 5" />,
  search: <path d="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
} satisfies Record<string, JSX.Element>;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {paths[name]}
    </svg>
  );
}

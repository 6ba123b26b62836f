import type { SlackChannel, SlackUser } from './workspace.ts';

const berlin = { tz: 'Europe/Berlin', tz_offset: 3600 };

/** Three users of the sandbox, one person without a user in the service, and one who has left. */
export const people: readonly SlackUser[] = [
  { id: 'U0MIRA001', name: 'Mira Novak', email: 'mira.novak@example.com', ...berlin },
  {
    id: 'U0TOMASZ1',
    name: 'Tomasz Zielinski',
    email: 'tomasz.zielinski@example.com',
    tz: 'Europe/Warsaw',
    tz_offset: 3600,
  },
  {
    id: 'U0AISHA01',
    name: 'Aisha Rahman',
    email: 'aisha.rahman@example.com',
    tz: 'Asia/Kolkata',
    tz_offset: 19_800,
  },
  { id: 'U0NOBODY1', name: 'Jonas Weber', email: 'jonas.weber@example.org', ...berlin },
  { id: 'U0GONE001', name: 'Petra Lang', email: 'petra.lang@example.com', deleted: true },
];

export const channels: readonly SlackChannel[] = [
  { id: 'C0GENERAL', name: 'general', botIsMember: true },
  { id: 'C0PLATFORM', name: 'platform', botIsMember: true },
  { id: 'C0PRIVATE', name: 'management', botIsMember: false },
];

export const userGroups: Readonly<Record<string, readonly string[]>> = {
  S0PLATFORM: ['U0MIRA001', 'U0TOMASZ1'],
};

import type * as z from 'zod';
import { defineConfig, type RelayConfig, type RelayConfigInput } from '../../lib/config/schema.ts';
import { type Team, timesheetsConfig } from '../../lib/config/timesheets.ts';

export type TeamInput = z.input<typeof timesheetsConfig>['teams'][number];

export const EVERY_DAY = { mon: 8, tue: 8, wed: 8, thu: 8, fri: 8, sat: 8, sun: 8 };

export const teamInput = {
  name: 'platform',
  connection: 'main',
  timeZone: 'Europe/Berlin',
  remindAt: '16:30',
  hours: { mon: 8, tue: 8, wed: 8, thu: 8, fri: 6.5 },
  people: 'all',
} satisfies TeamInput;

/** A configuration with these teams. */
export function withTeams(teams: TeamInput[], rest: Partial<RelayConfigInput> = {}): RelayConfig {
  return defineConfig({ connections: { main: {} }, slack: { connection: 'main' }, timesheets: { teams }, ...rest });
}

/** A team in the checked configuration, by default in Berlin, from Monday to Friday. */
export function team(change: Partial<TeamInput> = {}): Team {
  const { teams } = timesheetsConfig.parse({ teams: [{ ...teamInput, ...change }] });
  return teams[0] as Team;
}

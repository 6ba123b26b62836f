import type { RelayConfig } from '../config/schema.ts';
import { NotDone, Park } from '../jobs/interruption.ts';
import { slackMessage } from '../slack/replies.ts';
import type { SlackApi } from '../slack/slack-api.ts';
import { readTimesheets } from '../timesheets/read-timesheets.ts';
import { standingOf } from '../timesheets/shortfall.ts';
import { summaryMessages } from '../timesheets/summary-message.ts';
import { findTeam } from '../timesheets/team.ts';
import type { Automation } from './automation.ts';

export const TIMESHEET_SUMMARY = 'timesheet-summary';

/** What a job of this automation knows. */
export interface TeamWeek {
  team: string;
  weekStart: string;
  weekEnd: string;
}

export interface TimesheetSummaryOptions {
  config: RelayConfig;
  slack: SlackApi | undefined;
  clock: () => number;
}

/** Tells the lead's channel of the last week: who is complete, who is short, and by how much. */
export function timesheetSummary({ config, slack, clock }: TimesheetSummaryOptions): Automation {
  return {
    name: TIMESHEET_SUMMARY,
    async run(job, steps) {
      const { team: name, weekStart, weekEnd } = job.input as unknown as TeamWeek;
      const { teams = [], dryRun = false } = config.timesheets ?? {};
      const team = findTeam(teams, name);
      const channelId = team?.summary?.channel;
      if (!team || channelId === undefined || !slack) {
        throw new Park(`relay.config.ts has no team '${name}' with a summary, or no slack, any more`);
      }
      const sheets = await readTimesheets(teams, team, { from: weekStart, to: weekEnd }, steps);
      const people = sheets
        .map(({ name, email, minutes, unreadable }) => ({
          name,
          unreadable,
          ...standingOf(team, email, weekStart, weekEnd, minutes),
        }))
        .filter(({ expected }) => expected > 0);
      const messages = summaryMessages(team.name, { weekStart, weekEnd }, people);
      if (dryRun) {
        await steps.skip('tell the lead', 'Slack message', 'relay.config.ts says dryRun');
        return `dry run: would tell ${channelId}: ${messages[0]?.text}`;
      }
      for (const [index, message] of messages.entries()) {
        const part = slackMessage({ channelId }, `${job.id} ${index + 1}`, message, { slack, clock });
        const sent = await steps.reply(`tell the lead ${index + 1}`, part);
        if ('leftOut' in sent) throw new NotDone(`${sent.leftOut}: is the app in the channel ${channelId}?`);
      }
      return `told ${channelId} of the week from ${weekStart}`;
    },
  };
}

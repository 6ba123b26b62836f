import { datesBetween } from '../../dates.ts';
import { NeedsOperator } from '../../engine/record/interruption.ts';
import { slackMessage } from '../../platforms/slack/post-message.ts';
import { readTimesheets, type Timesheet } from '../../timesheets/read-timesheets.ts';
import { balancesOn, expectedOn, findTeam } from '../../timesheets/shortfall.ts';
import { summaryMessages } from '../../timesheets/summary-message.ts';
import { defineRun } from '../our-automation.ts';
import { summaryJobs } from '../team-timesheets/jobs.ts';

/** Posts last week's summary to the lead's channel: who is complete, who has time missing, and how much. */
export const run = defineRun(
  summaryJobs,
  async ({ team: name, dryRun, weekStart, weekEnd }, steps, { job, config, slack, absences }) => {
    const { teams = [] } = config.timesheets ?? {};
    const team = findTeam(teams, name);
    const channelId = team?.summary?.channel;
    if (!team || channelId === undefined || !slack) {
      throw new NeedsOperator(`relay.config.ts no longer has a team '${name}' with a summary, or slack`);
    }
    const dates = datesBetween(weekStart, weekEnd);
    const { away, unread } = await absences.noted(team.name, dates);
    const awayOf = ({ userId }: Timesheet) => away.get(String(userId)) ?? [];
    const standing = (sheet: Timesheet) =>
      balancesOn(dates, expectedOn(team, sheet, dates, awayOf(sheet)), sheet.minutes).sum;
    const isShort = (sheet: Timesheet) => standing(sheet).missing > 0;
    const range = { from: weekStart, to: weekEnd };
    const { sheets, addressesOfNobody } = await readTimesheets(teams, team, range, isShort, steps);
    const people = sheets
      .map((sheet) => ({ name: sheet.name, unreadable: sheet.unreadable, away: awayOf(sheet), ...standing(sheet) }))
      .filter(({ expected, away }) => expected > 0 || away.length > 0);
    const unknown = Object.values(addressesOfNobody);
    const messages = summaryMessages(team.name, { weekStart, weekEnd }, people, unknown, unread);
    if (dryRun) {
      await steps.skip('tell the lead', 'Slack message', 'relay.config.ts said dryRun');
      return `dry run: would send ${channelId}: ${messages[0]?.text}`;
    }
    for (const [index, message] of messages.entries()) {
      const part = slackMessage({ channelId }, `${job.id} ${index + 1}`, message, slack);
      await steps.reply(`tell the lead ${index + 1}`, part);
    }
    return `sent the summary of the week from ${weekStart} to ${channelId}`;
  },
);

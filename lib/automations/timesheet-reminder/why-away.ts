import * as z from 'zod';
import type { Team } from '../../config/timesheets.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { SlackApi } from '../../platforms/slack/slack-api.ts';
import type { Context } from '../context.ts';

/** https://docs.slack.dev/reference/methods/users.profile.get */
const withStatus = z.object({
  profile: z.object({ status_emoji: z.string().nullish(), status_expiration: z.number().nullish() }),
});

/** Why a person gets no reminder of that day: they say so, or their status in Slack does; undefined for who is there. */
export async function whyAway(
  { userId, date, absence }: { userId: string; date: string; absence: Team['absence'] },
  { absences, slack, clock }: Pick<Context, 'absences' | 'slack' | 'clock'>,
  steps: Steps,
): Promise<string | undefined> {
  const until = await absences.until(userId);
  if (until !== undefined && date <= until) return `until ${until}`;
  if (absence.emoji.length === 0 || !slack) return undefined;
  const emoji = await steps.read('their status', 'Slack users.profile.get', () => statusOf(userId, slack, clock()));
  return emoji !== null && absence.emoji.includes(emoji) ? `by the status ${emoji}` : undefined;
}

/** @returns null for a status without an end, and where Slack does not tell: then the reminder is sent as without it */
async function statusOf(user: string, slack: SlackApi, now: number): Promise<string | null> {
  try {
    const { profile } = await slack.call('users.profile.get', { user }, withStatus);
    return (profile.status_expiration ?? 0) * 1_000 > now ? (profile.status_emoji ?? null) : null;
  } catch {
    return null;
  }
}

import type { SectionBlock } from '@slack/types';
import type { Verbs } from '../../automations/verbs.ts';
import { chunks } from '../../chunks.ts';
import { onConnection, requiresLink } from '../../config/settings.ts';
import { parkKindOf } from '../../engine/line/next-step.ts';
import { parkedToPerson, waitToPerson } from '../../engine/record/in-plain-words.ts';
import { askedIn, continuesAt, isOver, type Job, questionOf, shortName, waitOf } from '../../engine/record/job.ts';
import { isNextFurther } from '../../people/turns.ts';
import { message, plainSection, type SlackMessage, section, sentence } from '../../platforms/slack/messages.ts';
import { code, escaped, nextMinute } from '../../platforms/slack/mrkdwn.ts';
import type { ConnectionView } from '../../service/connection/connection-view.ts';
import { connectionOf, type SlackIntake, STOPPED } from './slack-intake.ts';

/** How many of a person's jobs `status` shows. Unfinished jobs come first. */
const SHOWN = 5;
/** A section holds 3,000 characters, and a team may have many commands. */
const LINES_OF_SECTION = 10;
const ABOUT = "These commands work with your team's project-management service (“the service” in the answers).";

/** Lists the commands that the person can use in this channel. */
export async function usableVerbs(
  { userId, channelId }: { userId: string; channelId: string },
  intake: SlackIntake,
): Promise<Verbs['list']> {
  const { accounts } = intake.config.connections[connectionOf(intake, channelId)]?.mcp ?? {};
  const verbs = intake.verbs.list;
  const mayUse = async (verb: Verbs['list'][number]) => {
    const { permission, needsAccounts, needsProject } = verb;
    if (needsAccounts && accounts === 'off') return false;
    if (needsProject && intake.settings.channels[channelId]?.projectId === undefined) return false;
    if (permission === null) return true;
    // Without an answer from Slack, help shows a command rather than hiding it.
    const fault = await intake.permissions.faultOf(permission, { userId, channelId, verb }).catch(() => undefined);
    return fault === undefined;
  };
  const allowed = await Promise.all(verbs.map(mayUse));
  return verbs.filter((_, index) => allowed[index]);
}

/** Shows what the person can do in this channel, from the grammar that reads the commands. */
export async function helpMessage(
  place: { userId: string; channelId: string },
  intake: SlackIntake,
  about = '',
): Promise<SlackMessage> {
  const slash = intake.settings.command;
  const shown = await usableVerbs(place, intake);
  const asked = shown.find(({ verb }) => verb === about.toLowerCase());
  if (asked) return message(section(aboutVerb(asked, slash)));
  const lines = shown.map(({ usage, does }) => `${code(`${slash} ${usage}`)}  ${escaped(does)}`);
  const examples = shown
    .map(({ examples: [example] }) => example)
    .filter((example) => example?.includes(' '))
    .map((example) => code(`${slash} ${example}`));
  const blocks = [section(ABOUT), ...chunks(lines, LINES_OF_SECTION).map((some) => section(some.join('\n')))];
  if (examples.length > 0) blocks.push(section(`For example ${examples.join(', ')}`));
  const first = await neededFirst(place, shown, intake);
  if (first !== undefined) blocks.push(section(first));
  return { text: `What ${slash} can do`, blocks };
}

function aboutVerb({ usage, does, examples }: Verbs['list'][number], slash: string): string {
  const parts = usage.includes('[') ? ' Square brackets mean optional.' : '';
  const typed = examples.map((example) => code(`${slash} ${example}`));
  return `${code(`${slash} ${usage}`)}  ${escaped(does)}.${parts}\nFor example ${typed.join(', ')}`;
}

/** What a person needs before the commands work for them. */
async function neededFirst(
  { userId, channelId }: { userId: string; channelId: string },
  shown: Verbs['list'],
  intake: SlackIntake,
): Promise<string | undefined> {
  const { config, settings } = intake;
  const connection = connectionOf(intake, channelId);
  if (requiresLink(config, connection))
    return shown.every(({ permission }) => permission === null)
      ? `Here, people act in their own name. To see the other commands, link your account: ${code(`${settings.command} link`)}`
      : undefined;
  if (!settings.access.knownOnly || (await intake.isKnown(userId, connection))) return undefined;
  return `Commands that use the service need an account there. If you have none, ask ${escaped(config.contact)}.`;
}

/**
 * Shows a person's last requests, what they wait for, and the calls to the service. Reads only the table, so it never
 * waits.
 */
export async function statusMessage(
  { userId, channelId }: { userId: string; channelId: string },
  intake: SlackIntake,
): Promise<SlackMessage> {
  const connection = connectionOf(intake, channelId);
  const [jobs, budget, linked] = await Promise.all([
    intake.lastJobs(userId),
    intake.viewConnection(connection),
    intake.linking().then((linking) => linking?.linkStatus(userId, connection) ?? []),
  ]);
  const { minute, day } = budget;
  const of = ({ used, limit }: typeof day) => `${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`;
  const calls = `Calls: ${of(minute)} in the last minute, ${of(day)} in the last day.`;
  const groupOf = ({ entity, group = entity }: Job) => group;
  const isHeldUp = (job: Job) =>
    jobs.some(
      (other) =>
        other.status === 'waiting' &&
        !questionOf(other) &&
        groupOf(other) === groupOf(job) &&
        other.createdAt < job.createdAt,
    );
  const unfinished = jobs.filter((job) => !isOver(job));
  const inOrder = [...unfinished, ...jobs.filter(isOver)].slice(0, SHOWN);
  const more = unfinished.length - SHOWN;
  const told = inOrder.map((job) => jobSection(job, isHeldUp(job), intake));
  if (jobs.length === 0) told.push(section('You have not asked for anything yet.'));
  if (more > 0) told.push(section(`and ${more} more`));
  return {
    text: 'Status of your requests',
    blocks: [
      ...(intake.isStopped ? [section(`:double_vertical_bar: ${STOPPED}`)] : []),
      section('*Your last requests*'),
      ...told,
      section(
        `*Calls to the service${onConnection(connection, intake.config)}*\n${nextSlot(budget, jobs, intake)} ${calls}`,
      ),
      ...linked,
    ],
  };
}

function nextSlot(
  { isStopped, refusesKey, lanes }: ConnectionView,
  jobs: readonly Job[],
  { config: { contact }, clock }: SlackIntake,
): string {
  if (refusesKey) return `New requests wait until ${escaped(contact)} has replaced Partner Relay's key.`;
  if (isStopped) return 'New requests wait until the service works again.';
  const { nextSlotAt } = lanes[isNextFurther(jobs, clock()) ? 'further' : 'interactive'];
  if (nextSlotAt > clock()) return `New requests wait until ${nextMinute(nextSlotAt)}.`;
  // The view has no outages of the MCP endpoint.
  return jobs.some((job) => ['retry', 'answer'].includes(waitOf(job)?.for ?? ''))
    ? 'New requests start at once, but may have to wait like those above.'
    : 'New requests run at once.';
}

function waits(job: Job, contact: string, now: number): string {
  const { for: waitsFor = 'pause' } = waitOf(job) ?? {};
  const { why, next } = waitToPerson(waitsFor, escaped(contact));
  const when = continuesAt(job);
  if (when === 'probed') return `Waiting: ${why}. ${next}`;
  if (when === undefined) return `Waiting: ${why}.`;
  if (when.at <= now) return `Continues in a moment: ${why}.`;
  const until = `until ${when.isForecast ? 'about ' : ''}${nextMinute(when.at)}`;
  return questionOf(job) ? `Waits for an answer in Slack, ${until}.` : `Waiting ${until}: ${why}.`;
}

function jobSection(job: Job, isHeldUp: boolean, { config: { contact }, clock }: SlackIntake): SectionBlock {
  const asked = askedIn(job);
  switch (job.status) {
    case 'succeeded':
    case 'not-done': {
      const emoji = job.status === 'succeeded' ? ':white_check_mark:' : ':warning:';
      // The record's time entry id is removed, because people look for an entry by its task and day.
      const outcome = job.outcome?.replace(/, as time entry \S+$/, '') ?? 'done';
      return plainSection(`${emoji} ${asked}\n${sentence(outcome)}`);
    }
    case 'parked':
      return plainSection(`:octagonal_sign: ${asked}\n${parkedToPerson(parkKindOf(job), shortName(job.id), contact)}`);
    case 'waiting':
      return section(`:hourglass: ${code(asked)}\n${waits(job, contact, clock())}`);
    default:
      return plainSection(
        isHeldUp
          ? `:hourglass: ${asked}\nWaiting for your earlier requests.`
          : `:hourglass_flowing_sand: ${asked}\nIn progress.`,
      );
  }
}

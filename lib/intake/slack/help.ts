import type { SectionBlock } from '@slack/types';
import { verbs } from '../../automations/verbs.ts';
import { parkKindOf } from '../../engine/line/next-step.ts';
import { parkForPerson, waitForPerson } from '../../engine/record/in-plain-words.ts';
import { type Job, shortName, waitsFor } from '../../engine/record/job.ts';
import { plainSection, type SlackMessage, section, sentence } from '../../platforms/slack/messages.ts';
import { code, escaped, time } from '../../platforms/slack/mrkdwn.ts';
import type { LaneView } from '../../service/budget/budget.ts';
import { connectionOf, type SlackIntake } from './slack-intake.ts';

const SHOWN = 5;

/** The help text, made from the grammar that reads the commands. */
export function helpMessage(slash: string): SlackMessage {
  const lines = verbs.map(({ usage, does }) => `${code(`${slash} ${usage}`)}  ${escaped(does)}`);
  const examples = verbs
    .map(({ examples: [example] }) => example)
    .filter((example) => example?.includes(' '))
    .map((example) => code(`${slash} ${example}`));
  return {
    text: `What ${slash} can do`,
    blocks: [section(lines.join('\n')), section(`For example ${examples.join(', ')}`)],
  };
}

/**
 * A person's last jobs, what is waiting and until when, and the budget. All of it is read from the table, so it never
 * waits.
 */
export async function statusMessage(
  { userId, channelId }: { userId: string; channelId: string },
  intake: SlackIntake,
): Promise<SlackMessage> {
  const connection = connectionOf(intake, channelId);
  const [jobs, budget, linked] = await Promise.all([
    intake.jobsOfPerson.last({ in: 'slack', id: userId }, SHOWN),
    intake.budgetOf(connection),
    intake.linking.linkStatus(userId, connection),
  ]);
  const { minute, day, pausedUntil, lanes } = budget;
  const used = `${minute.used} of ${minute.limit} calls in the last minute, ${day.used} of ${day.limit} in the last day`;
  const paused = pausedUntil === null ? '' : ` Paused until ${time(pausedUntil)}.`;
  const groupOf = ({ entity, group = entity }: Job) => group;
  const isHeldUp = (job: Job) =>
    jobs.some(
      (other) => other.status === 'waiting' && groupOf(other) === groupOf(job) && other.createdAt < job.createdAt,
    );
  const told =
    jobs.length === 0
      ? [section('You have not asked for anything yet.')]
      : jobs.map((job) => jobSection(job, isHeldUp(job)));
  return {
    text: 'Status of your requests',
    blocks: [
      section('*Your last jobs*'),
      ...told,
      section(`*Budget of ${connection}*\n${used}. ${nextSlot(lanes.interactive, intake.clock())}${paused}`),
      ...linked,
    ],
  };
}

function nextSlot({ nextSlotAt }: LaneView, now: number): string {
  return nextSlotAt <= now ? 'The next call can go out now.' : `The next call can go out ${time(nextSlotAt)}.`;
}

function jobSection(job: Job, isHeldUp: boolean): SectionBlock {
  const asked = job.summary.slice(job.summary.indexOf(': ') + 2);
  switch (job.status) {
    case 'succeeded': {
      const emoji = job.notDone ? ':warning:' : ':white_check_mark:';
      return plainSection(`${emoji} ${asked}\n${sentence(job.outcome ?? 'done')}`);
    }
    case 'parked':
      return plainSection(
        `:octagonal_sign: ${asked}\n${sentence(parkForPerson[parkKindOf(job)])} It is saved as job ${shortName(job.id)}.`,
      );
    case 'waiting': {
      const until = job.dueAt ?? job.expectedAt;
      const waits = until === undefined ? 'waiting for its turn' : `waiting until ${time(until)}`;
      return section(`:hourglass: ${code(asked)}\n${waits}: ${waitForPerson[waitsFor(job) ?? 'pause']}`);
    }
    default:
      return plainSection(
        isHeldUp
          ? `:hourglass: ${asked}\nWaiting for your earlier requests.`
          : `:hourglass_flowing_sand: ${asked}\nIn progress.`,
      );
  }
}

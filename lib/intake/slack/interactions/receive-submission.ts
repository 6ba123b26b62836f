import type * as z from 'zod/mini';
import { defectJob } from '../../../automations/create-defect/command.ts';
import { timeJob } from '../../../automations/log-time/command.ts';
import { parseDuration } from '../../../commands/duration.ts';
import { taskAsTyped } from '../../../commands/log.ts';
import type { OurPermission } from '../../../config/schema.ts';
import { DAY_MS } from '../../../dates.ts';
import { tooMany } from '../../../people/turns.ts';
import { readOwn, SlackRequestError } from '../../../platforms/slack/requests/fields.ts';
import type { ModalSubmission } from '../../../platforms/slack/requests/interaction.ts';
import { AWAY_MODAL, awayMemory, awayMessage } from '../../../platforms/slack/views/away-views.ts';
import { chosenTask, TASK_SELECT } from '../../../platforms/slack/views/task-select.ts';
import { DEFECT_MODAL, defectMemory, LOG_TIME_MODAL, logTimeMemory } from '../../../platforms/slack/views/views.ts';
import { dayName } from '../../../timesheets/reminder-message.ts';
import type { Accepted } from '../accept-request.ts';
import { connectionOf, type SlackIntake } from '../slack-intake.ts';
import { slackOrigin } from '../slack-origin.ts';

const LONGEST_ABSENCE_MS = 366 * DAY_MS;

/** Faults by block id. A modal with faults stays open. */
type FieldFaults = Readonly<Record<string, string>>;

/** If the relay's answer was lost, Slack shows an error, and the person may change the form before sending it again. */
const SENT_BEFORE =
  'You already sent this form, and Partner Relay carries out what you entered first. To change it, use the service.';

/** Accepts the job of a submitted modal. The outcome arrives as a direct message. */
export async function receiveSubmission(sent: ModalSubmission, intake: SlackIntake): Promise<FieldFaults | undefined> {
  const remembered = <T>(schema: z.core.$ZodType<T>) =>
    readOwn("the modal's private_metadata", sent.privateMetadata, schema);
  // Checks the permission again: the form was opened earlier.
  const permissionFault = (verb: OurPermission, connection: string) =>
    intake.faultOf(verb, { userId: sent.userId, connection });
  switch (sent.callbackId) {
    case DEFECT_MODAL: {
      const { channelId, permalink } = remembered(defectMemory);
      const connection = connectionOf(intake, channelId);
      const fault = await permissionFault('defect', connection);
      if (fault !== undefined) return faultOfForm(sent, fault);
      const { project, title = '', description = '', type, priority, severity } = sent.values;
      if (project === undefined) return { title: await whyNoProject(connection, intake) };
      if (title.trim() === '') return { title: 'A defect needs a title.' };
      const origin = slackOrigin({ ...sent, happened: sent.viewId, channelId }, connection);
      const fields = { projectId: project, title: title.trim(), description, type, priority, severity, permalink };
      return faultsOf(sent, await intake.accept(defectJob(fields, origin), requestOf(sent)), intake);
    }
    case LOG_TIME_MODAL: {
      const { connection, task } = remembered(logTimeMemory);
      const chosen = task === undefined ? taskOfForm(sent.values) : { task, isId: true as const };
      const fault = await permissionFault('log', connection);
      if (fault !== undefined) return faultOfForm(sent, fault);
      const duration = parseDuration(sent.values.duration ?? '');
      if ('fault' in duration) return { duration: duration.fault };
      if (!chosen) return { duration: 'Choose a task first.' };
      const { date = 'today', note } = sent.values;
      const command = {
        verb: 'log',
        minutes: duration.minutes,
        day: date,
        ...chosen,
        note,
      } as const;
      const draft = timeJob(command, slackOrigin({ ...sent, happened: sent.viewId }, connection));
      return faultsOf(sent, await intake.accept(draft, requestOf(sent)), intake);
    }
    case AWAY_MODAL: {
      const { responseUrl } = remembered(awayMemory);
      const until = sent.values.until ?? '';
      const today = intake.clock();
      // Further west, it may still be yesterday.
      if (!(Date.parse(until) > today - 2 * DAY_MS && Date.parse(until) < today + LONGEST_ABSENCE_MS)) {
        return { until: 'Choose today or a day within the next year.' };
      }
      await intake.absences.set(sent.userId, until);
      await intake.responseUrls.respond(responseUrl, awayMessage(dayName(until)), 'beside');
      return undefined;
    }
    default:
      throw new SlackRequestError('this modal does not belong to Partner Relay');
  }
}

async function whyNoProject(connection: string, { projects, config }: SlackIntake): Promise<string> {
  const known = await projects.get(connection);
  if (known?.projects.length === 0) return `Partner Relay sees no projects. Ask ${config.contact}.`;
  return `The list of projects is still loading. Try again in a moment. If it does not come, ask ${config.contact}.`;
}

/** A typed or searched task takes precedence over the list, which always has a choice. */
function taskOfForm(values: ModalSubmission['values']): { task: string; isId?: true } | undefined {
  const { another = '', task: listed, [TASK_SELECT]: value } = values;
  const chosen = value === undefined ? { typed: another } : chosenTask(value);
  if ('id' in chosen) return { task: chosen.id, isId: true };
  const typed = taskAsTyped(chosen.typed);
  if (typed !== '') return { task: typed };
  return listed === undefined ? undefined : { task: listed, isId: true };
}

const requestOf = ({ userId, viewId }: ModalSubmission) => ({ userId, happened: viewId });

function faultsOf(sent: ModalSubmission, accepted: Accepted, { settings }: SlackIntake): FieldFaults | undefined {
  if (accepted === 'safe') return undefined;
  return faultOfForm(sent, accepted === 'before' ? SENT_BEFORE : tooMany(settings.command));
}

/** Shows a fault of the whole form at its first input, because Slack shows errors only at inputs. */
export function faultOfForm({ callbackId }: ModalSubmission, fault: string): FieldFaults {
  if (callbackId === AWAY_MODAL) return { until: fault };
  return { [callbackId === LOG_TIME_MODAL ? 'duration' : 'title']: fault };
}

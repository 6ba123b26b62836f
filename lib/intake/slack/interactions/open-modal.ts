import type { ModalView } from '@slack/types';
import * as z from 'zod/mini';
import { projectListJobs } from '../../../automations/list-projects/jobs.ts';
import { recognitionJobs } from '../../../automations/recognize-person/jobs.ts';
import { requiresLink } from '../../../config/settings.ts';
import { digest } from '../../../digest.ts';
import type { JobDraft } from '../../../engine/record/job.ts';
import { tooMany } from '../../../people/turns.ts';
import { PlatformRateLimited, PlatformUnanswered } from '../../../platforms/errors.ts';
import { message, plainSection, type SlackMessage, warning } from '../../../platforms/slack/messages.ts';
import { escaped } from '../../../platforms/slack/mrkdwn.ts';
import { SlackRefusal } from '../../../platforms/slack/slack-api.ts';
import { awayModal } from '../../../platforms/slack/views/away-views.ts';
import type { OpenedView } from '../../../platforms/slack/views/update-modal.ts';
import { defectModal, type LogTimeModal, logTimeModal } from '../../../platforms/slack/views/views.ts';
import { connectionOf, type SlackIntake } from '../slack-intake.ts';

/** The list is left out, because the key may see projects that the person may not. */
const NO_LIST =
  'The form cannot list your projects, because people act in their own name here. Use it in a channel that has a project.';

const opened = z.object({ view: z.object({ id: z.string(), hash: z.string() }) });

/** Projects rarely change. */
const PROJECTS_FRESH_MS = 5 * 60_000;

export interface ModalRequest {
  triggerId: string;
  userId: string;
  channelId: string;
}

export interface DefectModalRequest extends ModalRequest {
  title?: string;
  description?: string;
  permalink?: string;
}

/**
 * Opens the defect modal at once with the stored projects, and starts a job that updates their list.
 * @returns what to tell the person if the modal cannot be opened
 */
export async function openDefectModal(
  request: DefectModalRequest,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  const { userId, channelId, title, description, permalink } = request;
  const connection = connectionOf(intake, channelId);
  const projectId = intake.settings.channels[channelId]?.projectId;
  const isAsPerson = requiresLink(intake.config, connection);
  if (isAsPerson && projectId === undefined) return warning(NO_LIST);
  const known = isAsPerson ? undefined : await intake.projects.get(connection);
  const modal = {
    memory: { channelId, permalink },
    projectId,
    title,
    description,
  };
  const only = isAsPerson && projectId !== undefined && [{ id: projectId, name: 'The project of this channel' }];
  const shown = defectModal(intake.settings, { ...modal, projects: only || known?.projects });
  const { view, said } = await open(request, connection, shown, intake);
  const isFresh = known && known.projects.length > 0 && intake.clock() - known.seenAt < PROJECTS_FRESH_MS;
  if (!view || isFresh || isAsPerson) return said;
  const place = { ...placeOf(view, userId), connection, summary: `${userId}: projects for a form` };
  return (await fill(projectListJobs.draft({ ...place, input: { opened: view, modal } }), request, intake)) ?? said;
}

/** @returns what to tell the person if the modal cannot be opened */
export async function openLogTimeModal(
  request: ModalRequest,
  modal: LogTimeModal,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  const isTyped = requiresLink(intake.config, modal.connection);
  return (await open(request, modal.connection, logTimeModal({ ...modal, isTyped }), intake)).said;
}

/** @returns what to tell the person if the modal cannot be opened */
export async function openAwayModal(
  request: ModalRequest,
  connection: string,
  responseUrl: string | undefined,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  return (await open(request, connection, awayModal(responseUrl), intake)).said;
}

/** The fields shared by jobs that fill an open modal with data from the service. */
function placeOf(opened: OpenedView, userId: string) {
  const id = 'id' in opened ? opened.id : opened.externalId;
  return { happened: [id], lane: 'interactive', entity: `slack-${userId}`, group: `modal-${id}` } as const;
}

/** @returns what to tell the person if the job is not accepted */
async function fill(
  draft: JobDraft,
  { userId, triggerId }: Pick<ModalRequest, 'userId' | 'triggerId'>,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  const accepted = await intake.accept(draft, { userId, happened: triggerId });
  return accepted === 'too many' ? warning(tooMany(intake.settings.command)) : undefined;
}

/**
 * Looks up an unknown person if only known users of the service may use the relay, and tells them when to try again.
 * @returns undefined if the person may continue
 */
export async function recognize(
  { userId, triggerId }: Pick<ModalRequest, 'userId' | 'triggerId'>,
  connection: string,
  intake: SlackIntake,
): Promise<SlackMessage | undefined> {
  const { settings, config } = intake;
  if (!settings.access.knownOnly || requiresLink(config, connection)) return undefined;
  if (await intake.isKnown(userId, connection)) return undefined;
  const draft = recognitionJobs.draft({
    happened: [triggerId],
    connection,
    lane: 'interactive',
    entity: `slack-${userId}`,
    summary: `${userId}: who is it`,
    input: {},
    replyTo: { in: 'slack', userId },
  });
  return (
    (await fill(draft, { userId, triggerId }, intake)) ??
    message(
      plainSection(
        ':hourglass_flowing_sand: Partner Relay is looking up your user in the service, and tells you when to try again.',
      ),
    )
  );
}

/** The result of opening a modal: the modal that is open, or may be, and a message for the person. */
interface OpenedModal {
  view?: OpenedView;
  said?: SlackMessage;
}

async function open(
  request: ModalRequest,
  connection: string,
  view: ModalView,
  intake: SlackIntake,
): Promise<OpenedModal> {
  const { slack, config } = intake;
  const { triggerId } = request;
  const fault = (why: string) => ({ said: warning(`The form could not be opened: ${escaped(why)}`) });
  if (!(await slack.isThere())) {
    return fault(`Partner Relay has no token for the Slack app yet. Tell ${config.contact}.`);
  }
  const said = await recognize(request, connection, intake);
  if (said) return { said };
  // The form may open even if Slack's answer is lost, so it gets an id by which it can still be filled.
  const externalId = `partner-relay-${digest(triggerId)}`;
  try {
    const fields = { trigger_id: triggerId, view: { ...view, external_id: externalId } };
    return { view: (await slack.call('views.open', fields, opened)).view };
  } catch (error) {
    if (error instanceof PlatformUnanswered) {
      const said = warning('Slack did not confirm that the form opened. If you do not see it, try again.');
      return { view: { externalId }, said };
    }
    // The person is still there and can retry.
    if (error instanceof PlatformRateLimited) {
      return fault(`Slack limits Partner Relay's requests. Try again in ${error.waitMs / 1000} s.`);
    }
    if (!(error instanceof SlackRefusal)) throw error;
    if (error.error.includes('trigger')) return fault('it took longer than Slack allows. Try again.');
    return fault(`Slack refused it (${error.error}). Tell ${config.contact}.`);
  }
}

import * as z from 'zod';
import { LIST_PROJECTS, type OpenedModal } from '../automations/list-projects.ts';
import { jobId } from '../jobs/job.ts';
import { connectionOf, type Desk } from './desk.ts';
import { message, type SlackMessage } from './messages.ts';
import { escaped } from './mrkdwn.ts';
import { SlackRefusal } from './slack-api.ts';
import { defectModal, type LogTimeModal, logTimeModal } from './views.ts';

const opened = z.object({ view: z.object({ id: z.string(), hash: z.string() }) });

/** Projects do not come and go that often. */
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
 * Opens the modal for a defect at once, with the projects that were last seen, and has their list brought up to date.
 * @returns what to tell the person where it cannot be opened
 */
export async function openDefectModal(request: DefectModalRequest, desk: Desk): Promise<SlackMessage | undefined> {
  const { userId, channelId, title, description, permalink } = request;
  const connection = connectionOf(desk, channelId);
  const { projects, seenAt } = await desk.projects.get(connection);
  const modal: OpenedModal['modal'] = {
    memory: { channelId, ...(permalink !== undefined && { permalink }) },
    projectId: desk.settings.channels[channelId]?.projectId,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
  const view = await open(request, defectModal(desk.settings, { ...modal, projects }), desk);
  if ('fault' in view) return view.fault;
  if (projects.length > 0 && desk.clock() - seenAt < PROJECTS_FRESH_MS) return undefined;
  const input: OpenedModal = { viewId: view.id, hash: view.hash, modal };
  await desk.accept({
    id: jobId(LIST_PROJECTS, view.id),
    automation: LIST_PROJECTS,
    connection,
    lane: 'interactive',
    entity: `modal-${view.id}`,
    summary: `${userId}: projects for a modal`,
    input: { ...input },
  });
  return undefined;
}

/** @returns what to tell the person where it cannot be opened */
export async function openLogTimeModal(
  request: ModalRequest,
  modal: LogTimeModal,
  desk: Desk,
): Promise<SlackMessage | undefined> {
  const view = await open(request, logTimeModal(modal), desk);
  return 'fault' in view ? view.fault : undefined;
}

async function open(
  { triggerId }: ModalRequest,
  view: object,
  { slack, config }: Desk,
): Promise<{ id: string; hash: string } | { fault: SlackMessage }> {
  const fault = (why: string) => ({ fault: message(`:warning: The form could not be opened: ${escaped(why)}`) });
  if (!(await slack.isThere())) {
    return fault(`the relay has no token of the Slack app yet. Tell ${config.contact}.`);
  }
  try {
    const answer = await slack.call('views.open', { trigger_id: triggerId, view }, opened);
    return answer.view;
  } catch (error) {
    // The person is still there, and can simply ask again.
    if (error instanceof SlackRefusal && !error.error.includes('trigger')) {
      return fault(`Slack refuses it (${error.error}). Tell ${config.contact}.`);
    }
    return fault('Slack did not take it in time. Please try again.');
  }
}

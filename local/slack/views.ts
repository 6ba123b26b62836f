import type { ModalView } from '@slack/types';
import { viewFaults } from './block-kit.ts';
import { type Arguments, required, structured } from './call-arguments.ts';
import { SlackError } from './slack-error.ts';
import { APP_ID, BOT, nextId, type StandInView, TEAM_ID, type Workspace } from './workspace.ts';

/** "Error returned if the provided view is greater than 250kb." */
const MAX_VIEW_BYTES = 250_000;

/** https://docs.slack.dev/reference/methods/views.open */
export function openView(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const triggerId = required(args, 'trigger_id');
  const view = readView(required(args, 'view'));
  refuseTakenExternalId(workspace, view);
  const opened: StandInView = {
    id: nextId(workspace, 'V'),
    hash: nextHash(workspace),
    view,
    userId: workspace.triggers.exchange(triggerId),
    at: workspace.clock(),
    replaced: [],
  };
  workspace.views.push(opened);
  return { view: publicView(opened) };
}

/** https://docs.slack.dev/reference/methods/views.update */
export function updateView(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const { view_id, external_id, hash } = args;
  if (view_id === undefined && external_id === undefined) required(args, 'view_id');
  const view = readView(required(args, 'view'));
  const shown = workspace.views.find(({ id, view }) =>
    view_id === undefined ? view.external_id === external_id : id === view_id,
  );
  if (!shown) throw new SlackError('not_found');
  if (hash !== undefined && hash !== shown.hash) throw new SlackError('hash_conflict');
  refuseTakenExternalId(workspace, view, shown);
  shown.replaced.push({ view: shown.view, hash: shown.hash, at: shown.at });
  shown.at = workspace.clock();
  shown.view = view;
  shown.hash = nextHash(workspace);
  return { view: publicView(shown) };
}

function readView(given: unknown): ModalView {
  const view = structured(given, 'invalid_arguments');
  const faults = viewFaults(view);
  if (faults.length > 0) throw new SlackError('invalid_arguments', faults);
  if (Buffer.byteLength(JSON.stringify(view)) > MAX_VIEW_BYTES) throw new SlackError('view_too_large');
  return view as ModalView;
}

function refuseTakenExternalId({ views }: Workspace, { external_id }: ModalView, but?: StandInView): void {
  if (!external_id) return;
  const taken = views.some((other) => other !== but && other.view.external_id === external_id);
  if (taken) throw new SlackError('duplicate_external_id');
}

/** `1763640000.1763640000000`: like Slack's: a time and a number that makes it unique. */
function nextHash({ clock, stamps }: Workspace): string {
  return `${Math.floor(clock() / 1000)}.${stamps.nextNumber()}`;
}

/** A view as documented for views.open. */
function publicView({ id, hash, view }: StandInView): Record<string, unknown> {
  return {
    id,
    team_id: TEAM_ID,
    state: { values: {} },
    hash,
    private_metadata: '',
    callback_id: '',
    external_id: '',
    ...view,
    root_view_id: id,
    previous_view_id: null,
    app_id: APP_ID,
    bot_id: BOT.id,
  };
}

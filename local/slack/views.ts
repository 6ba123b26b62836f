import type { ModalView } from '@slack/types';
import { viewFaults } from './block-kit.ts';
import { type Arguments, required, SlackError, structured } from './call-arguments.ts';
import { nextId, type StandInView, type Workspace } from './workspace.ts';

/** "Error returned if the provided view is greater than 250kb." */
const MAX_VIEW_BYTES = 250_000;

/** https://docs.slack.dev/reference/methods/views.open */
export function openView(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const triggerId = required(args, 'trigger_id');
  const view = readView(required(args, 'view'));
  const opened: StandInView = {
    id: nextId(workspace, 'V'),
    hash: nextHash(workspace),
    view,
    userId: workspace.triggers.exchange(triggerId),
    at: workspace.clock(),
    replaced: [],
  };
  workspace.views.push(opened);
  return { view: { id: opened.id, hash: opened.hash } };
}

/** https://docs.slack.dev/reference/methods/views.update */
export function updateView(workspace: Workspace, args: Arguments): Record<string, unknown> {
  const { view_id, external_id, hash } = args;
  const view = readView(required(args, 'view'));
  const shown = workspace.views.find(({ id, view }) =>
    view_id === undefined ? view.external_id === external_id : id === view_id,
  );
  if (!shown) throw new SlackError('not_found');
  if (hash !== undefined && hash !== shown.hash) throw new SlackError('hash_conflict');
  shown.replaced.push(shown.view);
  shown.at = workspace.clock();
  shown.view = view;
  shown.hash = nextHash(workspace);
  return { view: { id: shown.id, hash: shown.hash } };
}

function readView(given: unknown): ModalView {
  const view = structured(given, 'invalid_arguments');
  const faults = viewFaults(view);
  if (faults.length > 0) throw new SlackError('invalid_arguments', faults);
  if (Buffer.byteLength(JSON.stringify(view)) > MAX_VIEW_BYTES) throw new SlackError('view_too_large');
  return view as ModalView;
}

/** `1763640000.1763640000000`: as in Slack, a time and a unique number. */
function nextHash({ clock, stamps }: Workspace): string {
  return `${Math.floor(clock() / 1000)}.${stamps.nextNumber()}`;
}

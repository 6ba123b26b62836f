/**
 * What slack-webhook needs for anything but a command that becomes a job. It is one module, loaded on demand, because each
 * one that is loaded on demand cuts the bundle into more files.
 */
export { createBudget } from '../../service/budget/budget.ts';
export { viewConnection } from '../../service/connection/connection-view.ts';
export { helpMessage, statusMessage } from './help.ts';
export { openDefectModal } from './open-modal.ts';
export { receiveButton } from './receive-button.ts';
export { receiveShortcut } from './receive-shortcut.ts';
export { faultOfForm, receiveSubmission } from './receive-submission.ts';
export { suggestTasks } from './suggest-tasks.ts';

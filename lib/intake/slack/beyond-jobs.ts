/**
 * What slack-webhook needs for anything but a command that becomes a job at once. It is one module, loaded on demand,
 * because each one that is loaded on demand cuts the bundle into more files.
 */
export { createBudget } from '../../service/budget/budget.ts';
export { viewConnection } from '../../service/connection/connection-view.ts';
export { answerRepeat, faultMessage, questionBefore } from './command-questions.ts';
export { helpMessage, statusMessage } from './help.ts';
export { openDefectModal } from './interactions/open-modal.ts';
export { receiveInteraction } from './interactions/receive-interaction.ts';

/**
 * What a command needs that does not become a job, or not at once. It is one module, because each one that is loaded on
 * demand cuts the bundle into more files.
 */

export { createLinking } from '../../as-person/index.ts';
export { createBudget } from '../../service/budget/budget.ts';
export { viewConnection } from '../../service/connection/connection-view.ts';
export { faultMessage, questionBefore } from './command-questions.ts';
export { helpMessage, statusMessage } from './help.ts';
export { answerInSilence } from './interactions/answer-in-silence.ts';
export { openDefectModal } from './interactions/open-modal.ts';

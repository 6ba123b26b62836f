/**
 * Code for commands that create no job, or not immediately. It is one module, because each module that is loaded on
 * demand splits the bundle into more files.
 */

export { createLinking } from '../../as-person/index.ts';
export { createBudget } from '../../service/budget/budget.ts';
export { viewConnection } from '../../service/connection/connection-view.ts';
export { faultMessage, questionBefore } from './command-questions.ts';
export { helpMessage, statusMessage } from './help.ts';
export { answerInSilence } from './interactions/answer-in-silence.ts';
export { openDefectModal } from './interactions/open-modal.ts';

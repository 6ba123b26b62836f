/**
 * Code that few deliveries need: for Markdown, for people's commands, and for the team's files. It is one module,
 * because each module that is loaded on demand splits the bundle into more files.
 */

export { mergedItems } from '../../automations/complete-checklist-item/merged-items.ts';
export { relationsOfIssue, relationsOfMerge } from '../../automations/relate/written-lines.ts';
export { createVerbs } from '../../automations/verbs.ts';
export { acceptCustomEvent } from './accept-custom-event.ts';
export { takeCommands } from './take-commands.ts';
export { withinTurns } from './within-turns.ts';

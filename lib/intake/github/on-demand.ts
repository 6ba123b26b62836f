/**
 * What few deliveries need: it reads Markdown, the requests of a person, and files of the team. It is one module, loaded on
 * demand, because each one that is loaded on demand cuts the bundle into more files.
 */

export { mergedItems } from '../../automations/complete-checklist-item/merged-items.ts';
export { relationsOfIssue, relationsOfMerge } from '../../automations/relate/written-lines.ts';
export { createVerbs } from '../../automations/verbs.ts';
export { acceptCustomEvent as acceptOwnEvent } from './accept-custom-event.ts';
export { takeCommands } from './take-commands.ts';
export { withinTurns } from './within-turns.ts';

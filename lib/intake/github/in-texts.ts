/**
 * What github-webhook needs once a text may ask for something: it reads Markdown, and the requests of the person. It is one module, loaded on demand,
 * because each one that is loaded on demand cuts the bundle into more files.
 */
export { takeCommands } from './take-commands.ts';
export { takeCompletions } from './take-completions.ts';
export { relationsOfIssue, relationsOfMerge } from './take-written-relations.ts';
export { withinTurns } from './within-turns.ts';

import { withDocsHere } from '../local/terminal.ts';

let stageOfRun: string | undefined;

/** Sets the stage for the commands in texts. */
export function pasteFor(stage: string | undefined): void {
  stageOfRun = stage;
}

/** Returns the text with complete commands, which name the stage, and with paths of the docs that exist here. */
export function toPaste(text: string): string {
  const stage = stageOfRun === undefined ? '' : `--stage ${stageOfRun} `;
  return withDocsHere(text).replaceAll(/\bnpx partner-relay (?!--stage )/g, `npx partner-relay ${stage}`);
}

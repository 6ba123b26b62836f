let stageOfRun: string | undefined;

/** Sets the stage for the commands in texts. */
export function pasteFor(stage: string | undefined): void {
  stageOfRun = stage;
}

/** Returns the text with complete commands: those for a stage name the stage. */
export function toPaste(text: string): string {
  const stage = stageOfRun === undefined ? '' : `--stage ${stageOfRun} `;
  return text.replaceAll(/\bnpx partner-relay (?!--stage )/g, `npx partner-relay ${stage}`);
}

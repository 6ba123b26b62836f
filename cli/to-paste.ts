let stageOfRun: string | undefined;

/** From now on, commands in texts name this stage. */
export function pasteFor(stage: string | undefined): void {
  stageOfRun = stage;
}

/** The text with commands that work as they are: those of a command for a stage are for that stage, too. */
export function toPaste(text: string): string {
  const stage = stageOfRun === undefined ? '' : `--stage ${stageOfRun} `;
  return text.replaceAll(/\bnpx partner-relay (?!--stage )/g, `npx partner-relay ${stage}`);
}

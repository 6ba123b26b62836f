/** The SDK looks for the size of such a body, and no function sends one. */
export class ReadStream {}
export const { createReadStream, fstatSync, lstatSync } = process.getBuiltinModule('node:fs');

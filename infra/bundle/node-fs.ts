/** Replaces the class by which the SDK finds the size of a body. No function sends such a body. */
export class ReadStream {}
export const { createReadStream, fstatSync, lstatSync } = process.getBuiltinModule('node:fs');

export const { isDeepStrictEqual } = process.getBuiltinModule('node:util');

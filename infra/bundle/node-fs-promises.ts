/** Loads the module only when called: the SDK uses it for shared configuration files, which no Lambda has. */
export const readFile = (path: string, encoding: 'utf8') =>
  process.getBuiltinModule('node:fs/promises').readFile(path, encoding);

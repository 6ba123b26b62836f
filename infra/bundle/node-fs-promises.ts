/** The SDK reads shared configuration files with it, which no Lambda has, so the first call loads the module. */
export const readFile = (path: string, encoding: 'utf8') =>
  process.getBuiltinModule('node:fs/promises').readFile(path, encoding);

import { resolve } from 'node:path';
import type { Metafile } from 'esbuild';

type Output = Metafile['outputs'][string];

/** The outputs of esbuild that a file loads at the start: itself and its static imports. */
export function loadedAtStart(file: string, { outputs }: Metafile): Output[] {
  const byPath = new Map(Object.entries(outputs).map(([path, output]) => [resolve(path), output]));
  const loaded = new Set<Output>();
  const load = (path: string): void => {
    const output = byPath.get(resolve(path));
    if (!output || loaded.has(output)) return;
    loaded.add(output);
    for (const { kind, path: imported } of output.imports) if (kind === 'import-statement') load(imported);
  };
  load(file);
  return [...loaded];
}

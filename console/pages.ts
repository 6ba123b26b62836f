import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/** A static file of the console, which contains no data. */
export interface Page {
  contentType: string;
  body: Buffer;
  etag: string;
}

const WEB = join(import.meta.dirname, 'web');
const TYPES = {
  '/': 'text/html; charset=utf-8',
  '/console.js': 'text/javascript; charset=utf-8',
  '/console.css': 'text/css; charset=utf-8',
} as const;

/**
 * Builds the pages: `console/web/index.html`, the script of `main.tsx` and the style sheet of `style.css`.
 *
 * @returns the files by their path
 * @throws {Error} for a source that esbuild refuses
 */
export async function buildPages(): Promise<ReadonlyMap<string, Page>> {
  const { outputFiles } = await build({
    entryPoints: [
      { in: join(WEB, 'main.tsx'), out: 'console' },
      { in: join(WEB, 'style.css'), out: 'console' },
    ],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outdir: WEB,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const files = new Map<string, Uint8Array>([['/', await readFile(join(WEB, 'index.html'))]]);
  for (const { path, contents } of outputFiles) files.set(path.slice(WEB.length), contents);
  return new Map(
    Object.entries(TYPES).map(([path, contentType]) => {
      const body = Buffer.from(files.get(path) ?? '');
      return [path, { contentType, body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }];
    }),
  );
}

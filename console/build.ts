import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A static file of the console, which contains no data. */
export interface StaticFile {
  contentType: string;
  body: Buffer;
  etag: string;
}

const WEB = join(import.meta.dirname, 'web');

/** The paths of the pages. */
export const pagePaths: readonly string[] = ['/', '/icon.svg', '/console.js', '/console.css'];

/**
 * Builds the console's pages in memory: `/` and `/icon.svg` as they are in console/web/, and `/console.js` and
 * `/console.css` from `main.tsx` and `style/main.css` with what they import. Nothing else is a page: the pages route by the fragment.
 *
 * @returns the files by their path
 * @throws {Error} for a source that esbuild refuses
 */
export async function buildPages(): Promise<ReadonlyMap<string, StaticFile>> {
  // Loaded on first use: a relay without an open console does not need it.
  const { build } = await import('esbuild');
  const [html, icon, { outputFiles }] = await Promise.all([
    readFile(join(WEB, 'index.html')),
    readFile(join(WEB, 'icon.svg')),
    build({
      entryPoints: [
        { in: join(WEB, 'main.tsx'), out: 'console' },
        { in: join(WEB, 'style/main.css'), out: 'console' },
      ],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: ['chrome120', 'firefox121', 'safari17.4'],
      outdir: WEB,
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      // The automatic form names `children` of each element, which is 5 KB in all.
      jsx: 'transform',
      jsxFactory: 'h',
      jsxFragment: 'Fragment',
      inject: [join(WEB, 'jsx.ts')],
      tsconfigRaw: {},
    }),
  ]);
  const built = (path: string) => outputFiles.find((file) => file.path === join(WEB, path))?.contents ?? '';
  return new Map([
    ['/', staticFile('text/html; charset=utf-8', html)],
    ['/icon.svg', staticFile('image/svg+xml', icon)],
    ['/console.js', staticFile('text/javascript; charset=utf-8', built('console.js'))],
    ['/console.css', staticFile('text/css; charset=utf-8', built('console.css'))],
  ]);
}

/** A file that browsers keep as long as it is the same. */
export function staticFile(contentType: string, contents: Uint8Array | string): StaticFile {
  const body = Buffer.from(contents);
  return { contentType, body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

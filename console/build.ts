import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SOURCE } from '../lib/project.ts';

/** A static file of the console. It contains no data. */
export interface StaticFile {
  contentType: string;
  body: Buffer;
  etag: string;
}

const WEB = join(import.meta.dirname, 'web');

/** The files of the console by path. Screens have no path of their own, because the fragment selects them. */
const PAGES = {
  '/': { name: 'index.html', contentType: 'text/html; charset=utf-8' },
  '/icon.svg': { name: 'icon.svg', contentType: 'image/svg+xml' },
  '/console.js': { name: 'console.js', contentType: 'text/javascript; charset=utf-8' },
  '/console.css': { name: 'console.css', contentType: 'text/css; charset=utf-8' },
} as const;
type PageName = (typeof PAGES)[keyof typeof PAGES]['name'];

export const pagePaths: readonly string[] = Object.keys(PAGES);

/** The console's pages by path. In the package, pack/ has built them as files. */
export async function loadPages(): Promise<ReadonlyMap<string, StaticFile>> {
  const built = SOURCE === '.ts' ? await buildPages() : undefined;
  const pages = Object.entries(PAGES).map(async ([path, { name, contentType }]) => {
    return [path, staticFile(contentType, built?.[name] ?? (await readFile(join(WEB, name))))] as const;
  });
  return new Map(await Promise.all(pages));
}

/**
 * Builds the console's pages in memory: `index.html` and `icon.svg` are copied from console/web/, `console.js` and
 * `console.css` are bundles of `main.tsx` and `style/main.css`.
 *
 * @throws {Error} if esbuild refuses a source
 */
export async function buildPages(): Promise<Readonly<Record<PageName, Uint8Array>>> {
  // Loaded on first use, because a relay without an open console does not need it.
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
      // The automatic form would name `children` for each element, which is 5 KB in all.
      jsx: 'transform',
      jsxFactory: 'h',
      jsxFragment: 'Fragment',
      inject: [join(WEB, 'jsx.ts')],
      tsconfigRaw: {},
    }),
  ]);
  const built = (name: string) => {
    return outputFiles.find((file) => file.path === join(WEB, name))?.contents ?? new Uint8Array();
  };
  return {
    'index.html': html,
    'icon.svg': icon,
    'console.js': built('console.js'),
    'console.css': built('console.css'),
  };
}

/** A file that browsers cache until it changes. */
export function staticFile(contentType: string, contents: Uint8Array | string): StaticFile {
  const body = Buffer.from(contents);
  return { contentType, body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

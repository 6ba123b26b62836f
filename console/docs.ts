import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type StaticFile, staticFile } from './build.ts';

const ROOT = join(import.meta.dirname, '..');
const IMAGES: Readonly<Record<string, string>> = { '.webp': 'image/webp', '.svg': 'image/svg+xml' };

/** Whether a path belongs to the documentation, as the console's pages and the documentation link it. */
export const isDocsPath = (path: string) => /^\/(docs(\/[\w-]+)+\.(md|webp|svg)|[A-Z]+\.md)$/.test(path);

/** Returns a page or picture of this version's documentation; undefined if it does not exist. */
export async function docsFile(path: string): Promise<StaticFile | undefined> {
  const contents = await readFile(join(ROOT, path)).catch(() => undefined);
  if (!contents) return undefined;
  const image = IMAGES[extname(path)];
  if (image) return staticFile(image, contents);
  // Loaded on first use, because a relay without an open console does not need it.
  const { default: MarkdownIt } = await import('markdown-it');
  // The HTML comes from this repository, and the content policy allows no scripts in it.
  const markdown = new MarkdownIt({ html: true });
  markdown.renderer.rules.heading_open = (tokens, index) => {
    const { tag = 'h2' } = tokens[index] ?? {};
    return `<${tag} id="${anchorOf(tokens[index + 1]?.content ?? '')}">`;
  };
  const [, title = path] = /^# (.+)$/m.exec(contents.toString()) ?? [];
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${markdown.utils.escapeHtml(title)}</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/console.css">`;
  const html = `<!doctype html><html lang="en"><head>${head}</head><body class="docs"><main>${markdown.render(contents.toString())}</main></body></html>`;
  return staticFile('text/html; charset=utf-8', html);
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

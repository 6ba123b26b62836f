import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startChild } from '../../child.ts';

/** Escapes text for an element or an attribute of HTML. */
export const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const root = join(import.meta.dirname, '../../..');

/** Runs `npm start` in an empty folder, and the commands that it suggests. @returns its output */
export async function storyOfStart(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-relay-'));
  const relay = startChild([join(root, 'cli/bin.js'), 'start'], folder, {
    PORT: '0',
    RELAY_CONFIG: join(root, 'relay.config.ts'),
  });
  try {
    await relay.printed('send slack');
    const send = (...words: string[]) =>
      promisify(execFile)(process.execPath, [join(root, 'cli/bin.js'), 'send', ...words], { cwd: folder });
    await send('issues');
    await relay.printed('created defect');
    await send('slack', '/pm log 1h30m "Login with passkeys" wrote tests');
    await relay.printed('logged 1h30m');
  } finally {
    await relay.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  return relay.output();
}

/** Removes everything from the story that differs between starts. */
export function withoutChance(story: string): string {
  const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(story) ?? [];
  let seconds = 8;
  let last = '';
  return story
    .replaceAll(`:${port}`, ':8787')
    .replaceAll(/127\.0\.0\.1:\d{5}/g, '127.0.0.1:43117')
    .replaceAll(/#token=\S+/g, '#token=Vb2xwN…')
    .replaceAll(/\b[0-9a-f]{32,40}\b/g, '5f0c21…')
    .replaceAll(/\bLOCAL[0-9A-F]{16}\b/g, 'LOCAL7…')
    .replaceAll(/#\d{6}\b/g, '#653165')
    .replaceAll(/-[0-9a-f]{20}\b/g, '-704528210990a7475308')
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'b542cd7c-6c1f-4828-b4c8-84e4248d28f7')
    .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, '2026-11-20')
    .replaceAll(/\b\d\d:\d\d:\d\d\b/g, (time) => {
      if (time !== last) seconds += 1;
      last = time;
      return `11:14:${String(seconds).padStart(2, '0')}`;
    })
    .replaceAll(/done in \d+ ms/g, 'done in 14 ms');
}

/** A terminal window. @param commands typed commands, with their output */
export function terminalPage(commands: readonly { typed: string; printed: string }[]): string {
  const lines = commands.map(
    ({ typed, printed }) =>
      `<span class="prompt">$</span> <b>${escaped(typed)}</b>\n${coloured(escaped(printed.trim()))}`,
  );
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; padding: 20px; background: #fff; }
    .window { border-radius: 10px; background: #14181f; color: #d6dbe4; overflow: hidden; }
    .bar { display: flex; gap: 7px; padding: 11px 14px; background: #1e242e; }
    .bar i { width: 11px; height: 11px; border-radius: 50%; background: #3c4556; }
    pre { margin: 0; padding: 14px 18px 18px; font: 12.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
    .prompt { color: #7f8aa0; } b { color: #fff; } .good { color: #6fd19c; } .soft { color: #8f9aae; } .link { color: #93a8ff; }
  </style><div class="window"><div class="bar"><i></i><i></i><i></i></div><pre>${lines.join('\n\n')}</pre></div>`;
}

function coloured(text: string): string {
  return text
    .replaceAll(/(✓[^\n]*)/g, '<span class="good">$1</span>')
    .replaceAll(/(http:\/\/[^\s]+)/g, '<span class="link">$1</span>')
    .replaceAll(/^(\d\d:\d\d:\d\d)/gm, '<span class="soft">$1</span>');
}

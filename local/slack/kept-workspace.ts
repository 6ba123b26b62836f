import * as z from 'zod';
import { DamagedFile, readOwnFile, writeOwnFile } from '../own-file.ts';
import type { KeptResponseUrl, ResponseUrls } from './response-urls.ts';
import type { SlackMessage, StandInView, Workspace } from './workspace.ts';

/** The newest of each that survive a restart. The whole file is written for each change. */
const MOST_KEPT = 500;

const kept = z.object({
  messages: z.array(z.custom<SlackMessage>(isRecord)),
  views: z.array(z.custom<StandInView>(isRecord)),
  responseUrls: z.array(z.custom<KeptResponseUrl>(isRecord)),
});

/**
 * Fills a workspace with what was sent to it before a restart.
 *
 * @returns writes the file, if anything has changed. It is called before an answer is sent, so that a killed process
 * loses nothing that it has answered.
 * @throws {DamagedFile}
 */
export function keepWorkspace(file: string, workspace: Workspace, responseUrls: ResponseUrls): () => void {
  const text = readOwnFile(file);
  if (text !== undefined) {
    const { messages, views, responseUrls: urls } = read(file, text);
    workspace.messages.push(...messages);
    workspace.views.push(...views);
    responseUrls.restore(urls);
  }
  let last = text;
  return () => {
    const { messages, views } = workspace;
    const now = JSON.stringify({
      messages: messages.slice(-MOST_KEPT),
      views: views.slice(-MOST_KEPT),
      responseUrls: responseUrls.valid().slice(-MOST_KEPT),
    });
    if (now !== last) writeOwnFile(file, now);
    last = now;
  };
}

function read(file: string, text: string): z.output<typeof kept> {
  try {
    return kept.parse(JSON.parse(text));
  } catch (cause) {
    const todo = 'remove it: only the messages in place of Slack are lost';
    throw new DamagedFile(file, 'it has no messages of the stand-in', todo, cause);
  }
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

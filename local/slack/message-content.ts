import type { KnownBlock, MessageMetadata } from '@slack/types';
import * as z from 'zod';
import { blockKitFaults } from './block-kit.ts';
import { SlackError, structured } from './call-arguments.ts';
import type { MessageContent } from './workspace.ts';

/**
 * Slack cuts longer text and posts the rest separately. The stand-in refuses it with the error code of other methods,
 * so that the lost end of a message is noticed.
 * https://api.slack.com/changelog/2018-04-truncating-really-long-messages
 */
const MAX_TEXT_LENGTH = 40_000;

/** https://docs.slack.dev/messaging/message-metadata */
const messageMetadata = z.object({ event_type: z.string(), event_payload: z.record(z.string(), z.string()) });

/**
 * Checks the content of a message. @throws {SlackError} from https://docs.slack.dev/reference/methods/chat.postMessage
 */
export function readContent(fields: {
  text?: unknown;
  blocks?: unknown;
  metadata?: unknown;
}): Omit<MessageContent, 'at'> {
  const { text = '' } = fields;
  if (typeof text !== 'string') throw new SlackError('invalid_arguments');
  if (text.length > MAX_TEXT_LENGTH) throw new SlackError('msg_too_long');
  const blocks = readBlocks(fields.blocks);
  if (text === '' && !blocks?.length) throw new SlackError('no_text');
  const metadata = readMetadata(fields.metadata);
  return { text, ...(blocks && { blocks }), ...(metadata && { metadata }) };
}

function readBlocks(given: unknown): KnownBlock[] | undefined {
  if (given === undefined) return undefined;
  const blocks = structured(given, 'invalid_blocks_format');
  const faults = blockKitFaults(blocks);
  if (faults.length > 0) throw new SlackError('invalid_blocks', faults);
  return blocks as KnownBlock[];
}

function readMetadata(given: unknown): MessageMetadata | undefined {
  if (given === undefined) return undefined;
  const read = messageMetadata.safeParse(structured(given, 'invalid_metadata_format'));
  if (!read.success) throw new SlackError('invalid_metadata_format');
  return read.data;
}

import type { ModalView } from '@slack/types';
import * as z from 'zod/mini';
import { button, message, plainSection, type SlackMessage } from '../messages.ts';
import { input, modal } from './blocks.ts';

/** A button that opens the form for a person's last day of absence. Its value is the connection. */
export const AWAY_BUTTON = 'away';
/** A button that ends the absence. */
export const BACK_BUTTON = 'back';
export const AWAY_MODAL = 'away';

/** The modal's memory: the address for the answer. */
export const awayMemory = z.object({ responseUrl: z.optional(z.url()) });

export function awayModal(responseUrl: string | undefined): ModalView {
  const memory: z.output<typeof awayMemory> = { responseUrl };
  return modal(AWAY_MODAL, memory, { title: 'Away until', submit: 'Save' }, [
    input(
      'until',
      'The last day of your absence',
      { type: 'datepicker', action_id: 'until' },
      { hint: 'You get no reminders until the end of that day. You can undo this.' },
    ),
  ]);
}

/** @param day the last day, in words */
export const awayMessage = (day: string): SlackMessage =>
  message(plainSection(`:no_bell: You get no reminders until the end of ${day}.`), button('Undo', BACK_BUTTON, day));

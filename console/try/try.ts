import { HttpError } from '../../lib/state/http/function-url.ts';
import { messageOf } from '../../lib/text.ts';
import type { SlackStandIn } from '../../local/slack/stand-in.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { readSent } from '../read-sent.ts';
import { type ActionOutcome, type TryAction, tryAction } from '../requests.ts';
import { faultKinds, faultsOf } from './sandbox-view.ts';
import { createSender, type SenderOptions } from './sender.ts';
import { messagesOf } from './slack-view.ts';

export type Try = ReturnType<typeof createTry>;

export interface TryOptions extends SenderOptions {
  /** Undefined if the relay calls a real instance. */
  sandbox?: Sandbox | undefined;
}

/** The screen Try: events to send, and what the stand-ins on this machine received and answered. */
export function createTry({ sandbox, ...options }: TryOptions) {
  const sender = createSender(options);
  const standIn: SlackStandIn | undefined = options.slack?.standIn;

  async function perform(asked: TryAction): Promise<ActionOutcome> {
    switch (asked.do) {
      case 'send event':
        return sender.sendEvent(asked.event, asked.body);
      case 'send command':
        return sender.sendCommand(asked.text, asked.user);
      case 'press':
        return sender.press(asked);
      case 'set fault':
        sandboxOf(sandbox).faults.set(asked.fault);
        return { text: 'Broken.' };
      case 'clear fault':
        return {
          text: sandboxOf(sandbox).faults.remove(asked.id) ? 'Repaired.' : 'This fault was already over.',
        };
    }
  }

  return {
    /** Whether the sandbox has a fault. */
    isBroken: () => sandbox !== undefined && faultsOf(sandbox).length > 0,
    read: () => ({
      examples: sender.examples(),
      messages: standIn ? messagesOf(standIn) : [],
      faults: sandbox ? faultsOf(sandbox) : [],
      faultKinds: sandbox ? [...faultKinds] : [],
    }),
    /**
     * Carries out an action.
     *
     * @param given as in the contract, not checked yet
     * @returns what happened
     * @throws {HttpError} if the action is not possible
     */
    async act(given: unknown): Promise<ActionOutcome> {
      const asked = readSent(tryAction, given, 'this is not an action of the screen Try');
      try {
        return await perform(asked);
      } catch (cause) {
        // The stand-ins and the sandbox explain in words what is wrong with their input.
        throw new HttpError(400, messageOf(cause), { cause });
      }
    },
  };
}

function sandboxOf(sandbox: Sandbox | undefined): Sandbox {
  if (sandbox) return sandbox;
  throw new Error('this relay calls a real instance, so there is no sandbox');
}

import { AccountNeeded } from '../../../as-person/grants/errors.ts';
import type { Grant, Holder } from '../../../as-person/grants/grant.ts';
import type { ToolResult } from '../../../as-person/protocol/tool.ts';
import type { Leaving } from '../../../send-once.ts';
import { NotDone } from '../../record/interruption.ts';
import type { Privacy } from '../../record/privacy.ts';
import type { Once } from '../once.ts';
import { createToolAccess, type ToolAccess, type ToolAccessOptions } from './access.ts';
import { readingBy, saidIn, type ToolCall } from './call.ts';
import {
  createToolChanges,
  type Find,
  type Made,
  type ReadWithGrant,
  type ToolChangesOptions,
  type ToolReader,
} from './changes.ts';

/** Calls of tools as one person, each carried out once per job. */
export interface ToolSteps extends ToolReader {
  /** Whether the person has linked an account, and whether it can still be used. */
  linked(): Promise<'no' | 'dead' | 'yes'>;
  /**
   * Calls a tool that changes something: once at most, unless the tool says of itself that it may be repeated.
   *
   * @param find looks for what a call has made whose answer was lost; each look is a step of its own. It reads with the
   * grant that the call was sent with, because another account may see other things.
   */
  make<Kept>(step: string, call: ToolCall, keep: (result: ToolResult) => Kept, find?: Find<Kept>): Promise<Made<Kept>>;
}

const OTHER_GRANT = 'The account that it was sent with is not linked any more, so the relay cannot look for it';

/** The tools of one run of a job, for any person. */
export interface ToolStepsOfRun extends Pick<ToolAccess, 'flush'> {
  as(holder: Holder): ToolSteps;
}

export function createToolSteps(
  options: ToolAccessOptions & Omit<ToolChangesOptions, 'access' | 'read'>,
): ToolStepsOfRun {
  const { once, privacy } = options;
  const access = createToolAccess(options);
  const read = createReading(access, once, privacy);
  const change = createToolChanges({ ...options, access, read });

  async function linked(holder: Holder): Promise<'no' | 'dead' | 'yes'> {
    const grant = await access.grantOf(holder);
    if (!grant) return 'no';
    return grant.death ? 'dead' : 'yes';
  }

  return {
    as: (holder) => ({
      linked: () => linked(holder),
      read: (step, call, keep) => read(holder, step, call, keep),
      make: (step, call, keep, find) => change({ holder, step, call, keep, find }),
    }),
    flush: access.flush,
  };
}

function createReading(access: ToolAccess, once: Once, privacy: Privacy): ReadWithGrant {
  return (holder, step, call, keep, only) => {
    // A call that changes nothing has nothing to note.
    const leaving: Leaving<Grant> = {
      async mayLeave({ grantId }) {
        access.pauses.ensureTimeForCall();
        if (only !== undefined && grantId !== only) throw new NotDone(OTHER_GRANT);
      },
      leaves() {},
      refused() {},
    };
    async function readOnce() {
      try {
        const { args } = await access.checked(holder, call);
        const { tools } = await access.assistant();
        const result = await tools.call(holder, 'repeatable', call.tool, args, leaving);
        if (!result.isError) return keep(result);
        throw new NotDone(`The tool ${call.tool} does not do this${access.inItsWords(saidIn(result))}`);
      } catch (error) {
        // Linking again brings another grant, so there is nothing to wait for.
        if (only !== undefined && error instanceof AccountNeeded) throw new NotDone(OTHER_GRANT);
        throw error;
      }
    }
    return once.run(step, readingBy(call), () => access.interrupting(readOnce), privacy);
  };
}

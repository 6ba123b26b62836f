import type { Holder } from '../../../as-person/grants/grant.ts';
import type { ToolResult } from '../../../as-person/protocol/tool.ts';
import { createToolAccess, type ToolAccessOptions } from './access.ts';
import type { ToolCall } from './call.ts';
import { createToolChanges, type Find, type Made, type ToolChangesOptions, type ToolReader } from './changes.ts';

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

/** The tools of one run of a job, for any person. */
export type ToolStepsOfRun = ReturnType<typeof createToolSteps>;

export function createToolSteps(options: ToolAccessOptions & Omit<ToolChangesOptions, 'access'>) {
  const access = createToolAccess(options);
  const change = createToolChanges({ ...options, access });

  return {
    as: (holder: Holder): ToolSteps => ({
      async linked() {
        const grant = await access.grantOf(holder);
        if (!grant) return 'no';
        return grant.death ? 'dead' : 'yes';
      },
      read: (step, call, keep) => access.read(holder, step, call, keep),
      make: (step, call, keep, find) => change({ holder, step, call, keep, find }),
    }),
    flush: access.flush,
  };
}

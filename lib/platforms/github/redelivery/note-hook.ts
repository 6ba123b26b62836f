import * as z from 'zod/mini';
import { keys } from '../../../state/table/keys.ts';
import type { Table } from '../../../state/table/table.ts';
import type { GithubDelivery } from '../delivery.ts';
import { type Hook, targetName } from './hooks.ts';

export type NoteHook = ReturnType<typeof createNoteHook>;

interface NoteHookOptions {
  table: Table;
  clock: () => number;
  log: Pick<Console, 'warn'>;
  /** The configured repositories, as `owner/name`. */
  repositories: readonly string[];
}

const NOTED_FOR_MS = 86_400_000;
/**
 * How many hooks of a target are remembered. GitHub signs the payload, but not the headers with the hook's id. Without
 * a limit, replaying a captured delivery with other headers could make the relay list any number of hooks.
 */
const MAX_PER_TARGET = 10;

const id = z.string().check(z.regex(/^\d{1,20}$/));
const signedHook = z.object({
  kind: z.enum(['integration', 'repository', 'organization']),
  hookId: id,
  targetId: id,
  payload: z.object({
    repository: z.optional(z.object({ full_name: z.string() })),
    organization: z.optional(z.object({ login: z.string() })),
  }),
});

/**
 * Returns the hook of a delivery, if the headers name one and the signed payload names its target.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
 */
function hookOf(delivery: GithubDelivery, headers: Readonly<Record<string, string | undefined>>): Hook | undefined {
  const { data } = signedHook.safeParse({
    kind: headers['x-github-hook-installation-target-type'],
    hookId: headers['x-github-hook-id'],
    targetId: headers['x-github-hook-installation-target-id'],
    payload: delivery.payload,
  });
  if (!data) return undefined;
  const { kind, hookId, targetId, payload } = data;
  if (kind === 'integration') return { kind, target: 'app', id: targetId };
  const target = kind === 'repository' ? payload.repository?.full_name : payload.organization?.login;
  return target === undefined ? undefined : { kind, target, id: hookId };
}

/**
 * Records the hook of a verified delivery, once per process and day. Never fails: the delivery matters more than the
 * record, and a later delivery can record the hook.
 */
export function createNoteHook({ table, clock, log, repositories }: NoteHookOptions) {
  const notedAt = new Map<string, number>();
  const targets = new Set([
    ...repositories.map((target) => targetName({ kind: 'repository', target })),
    ...repositories.map((name) => targetName({ kind: 'organization', target: name.replace(/\/.*/, '') })),
    'integration#app',
  ]);

  /** @param headers with lowercase names */
  return async (delivery: GithubDelivery, headers: Readonly<Record<string, string | undefined>>): Promise<void> => {
    const hook = hookOf(delivery, headers);
    if (!hook || !targets.has(targetName(hook))) return;
    const { kind, target, id } = hook;
    const [now, noted] = [clock(), `${targetName(hook)}#${id}`];
    if (now - (notedAt.get(noted) ?? Number.NEGATIVE_INFINITY) < NOTED_FOR_MS) return;
    try {
      const written = await table.update(
        keys.hook(targetName(hook)),
        {
          expression: 'ADD #ids :ids SET #kind = :kind, #target = :target, #seenAt = :now',
          values: { ids: new Set([id]), kind, target, now },
        },
        {
          expression: 'attribute_not_exists(#ids) OR contains(#ids, :id) OR size(#ids) < :most',
          values: { id, most: MAX_PER_TARGET },
        },
      );
      if (!written) throw new Error(`${MAX_PER_TARGET} hooks of this ${kind} are known already`);
      notedAt.set(noted, now);
    } catch (error) {
      log.warn({ message: 'hook not noted', hookId: id, hook: `${kind} ${target}`, error: String(error) });
    }
  };
}

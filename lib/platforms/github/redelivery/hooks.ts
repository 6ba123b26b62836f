import { keys } from '../../../state/table/keys.ts';
import type { Table } from '../../../state/table/table.ts';

/**
 * A webhook that delivers to the relay. Enterprise webhooks are left out: GitHub's API does not list their deliveries.
 * https://docs.github.com/en/webhooks/types-of-webhooks
 */
export interface Hook {
  /** `X-GitHub-Hook-Installation-Target-Type`; a GitHub App is an `integration` there. */
  kind: 'integration' | 'repository' | 'organization';
  /** The name in the API: owner/name, or the login of the organization. The word `app` for a GitHub App. */
  target: string;
  /** `X-GitHub-Hook-ID`. For a GitHub App, which has one hook, the id of the App. */
  id: string;
}

/** A hook and how far redelivery is with it. Times are epoch milliseconds. */
export interface KnownHook extends Hook {
  /** When its target last delivered, to the day. */
  seenAt: number;
  /**
   * Every delivery that GitHub first attempted before this time has arrived, was refused, or was given up. 0 until the
   * list was read once.
   */
  settledTo: number;
  /** When GitHub last listed its deliveries, or 0. */
  listedAt: number;
}

/** The hooks that deliver to the relay, as note-hook.ts learned them from their deliveries. */
export type Hooks = ReturnType<typeof createHooks>;

/** Names the target of a hook; its hooks share an item. */
export function targetName({ kind, target }: Pick<Hook, 'kind' | 'target'>): string {
  return `${kind}#${target.toLowerCase()}`;
}

export function createHooks(table: Table) {
  return {
    async known(): Promise<KnownHook[]> {
      const items = await table.partition(keys.hook('').pk);
      return items.flatMap(({ kind, target, seenAt, ids, ...places }) =>
        [...((ids ?? []) as Set<string>)].map((id) => {
          const [settledTo, listedAt] = placeAttributes(id).map((name) => places[name] ?? 0);
          return { kind, target, seenAt, id, settledTo, listedAt } as KnownHook;
        }),
      );
    },
    /** Writes `settledTo` and `listedAt`, unless the hook was forgotten. */
    async keepPlace(hook: KnownHook): Promise<void> {
      const { id, settledTo, listedAt } = hook;
      const [settled, listed] = placeAttributes(id);
      await table.update(
        keys.hook(targetName(hook)),
        { expression: `SET #${settled} = :settledTo, #${listed} = :listedAt`, values: { settledTo, listedAt } },
        { expression: 'contains(#ids, :id)', values: { id } },
      );
    },
    /** Forgets a hook, unless its target has delivered since `hook` was read. */
    async forget(hook: KnownHook): Promise<void> {
      // A hook that comes back is listed from the start.
      const place = placeAttributes(hook.id).map((name) => `#${name}`);
      await table.update(
        keys.hook(targetName(hook)),
        { expression: `DELETE #ids :ids REMOVE ${place.join(', ')}`, values: { ids: new Set([hook.id]) } },
        { expression: '#seenAt = :seenAt', values: { seenAt: hook.seenAt } },
      );
    },
  };
}

/** The attributes of a hook's place in the item of its target. */
const placeAttributes = (id: string) => [`settledTo${id}`, `listedAt${id}`];

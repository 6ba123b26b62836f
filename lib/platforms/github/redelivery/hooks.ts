import { keys } from '../../../state/table/keys.ts';
import type { Table } from '../../../state/table/table.ts';

/**
 * A webhook that delivers to the relay. Not an enterprise webhook, because GitHub's API does not list its deliveries.
 * https://docs.github.com/en/webhooks/types-of-webhooks
 */
export interface Hook {
  /** `X-GitHub-Hook-Installation-Target-Type`. A GitHub App is called `integration` there. */
  kind: 'integration' | 'repository' | 'organization';
  /** The name in the API: `owner/name` or an organization's login. `app` for a GitHub App. */
  target: string;
  /** `X-GitHub-Hook-ID`. For a GitHub App, which has one hook, the App's id. */
  id: string;
}

/** A hook, with the progress of its redelivery. Times are epoch milliseconds. */
export interface KnownHook extends Hook {
  /** The day of its target's last delivery. */
  seenAt: number;
  /**
   * Every delivery first attempted before this time has arrived, was refused, or was given up. 0 until the list was
   * read once.
   */
  settledTo: number;
  /** When GitHub last listed the hook's deliveries, or 0. */
  listedAt: number;
}

/** The hooks that deliver to the relay, learned by note-hook.ts from their deliveries. */
export type Hooks = ReturnType<typeof createHooks>;

/** Names the target of a hook. All hooks of a target share one item. */
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
      // If the hook comes back, its list is read from the start.
      const place = placeAttributes(hook.id).map((name) => `#${name}`);
      await table.update(
        keys.hook(targetName(hook)),
        { expression: `DELETE #ids :ids REMOVE ${place.join(', ')}`, values: { ids: new Set([hook.id]) } },
        { expression: '#seenAt = :seenAt', values: { seenAt: hook.seenAt } },
      );
    },
  };
}

/** The names of a hook's two attributes in the item of its target. */
const placeAttributes = (id: string) => [`settledTo${id}`, `listedAt${id}`];

import * as z from 'zod/mini';
import { keys } from '../../../state/table/keys.ts';
import type { Table } from '../../../state/table/table.ts';
import type { GithubDelivery } from '../delivery.ts';

/**
 * A webhook that delivers to the relay. Enterprise webhooks are left out: GitHub's API does not list their deliveries.
 * https://docs.github.com/en/webhooks/types-of-webhooks
 */
export interface Hook {
  /** `X-GitHub-Hook-Installation-Target-Type`; a GitHub App is an `integration` there. */
  kind: 'integration' | 'repository' | 'organization';
  /** As the API names it: owner/name, or the login of the organization. The word `app` for a GitHub App. */
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

/** The hooks that deliver to the relay, learned from their deliveries. */
export interface Hooks {
  /**
   * Notes the hook of a verified delivery, once per process and day. Never fails, because the delivery matters more
   * than the note, and a later delivery makes up for it.
   *
   * @param headers with lowercase names
   */
  note(delivery: GithubDelivery, headers: Readonly<Record<string, string | undefined>>): Promise<void>;
  known(): Promise<KnownHook[]>;
  /** Writes `settledTo` and `listedAt`, unless the hook was forgotten. */
  keepPlace(hook: KnownHook): Promise<void>;
  /** Forgets a hook, unless its target has delivered since `hook` was read. */
  forget(hook: KnownHook): Promise<void>;
}

export interface HooksOptions {
  table: Table;
  clock: () => number;
  log: Pick<Console, 'warn'>;
  /** The configured repositories, as owner/name. */
  repositories: readonly string[];
}

const NOTED_FOR_MS = 86_400_000;
/**
 * GitHub's signature covers the payload, not the headers with the hook's id. Without a limit, someone who replays a
 * captured delivery with other headers could make the relay list any number of hooks.
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
 * The hook that made a delivery, if the headers name one and the signed payload names its target.
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

/** Names the target of a hook; its hooks share an item. */
export function targetName({ kind, target }: Pick<Hook, 'kind' | 'target'>): string {
  return `${kind}#${target.toLowerCase()}`;
}

export function createHooks({ table, clock, log, repositories }: HooksOptions): Hooks {
  const notedAt = new Map<string, number>();
  const targets = new Set([
    ...repositories.map((target) => targetName({ kind: 'repository', target })),
    ...repositories.map((name) => targetName({ kind: 'organization', target: name.replace(/\/.*/, '') })),
    'integration#app',
  ]);

  return {
    async note(delivery, headers) {
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
    },
    async known() {
      const items = await table.partition(keys.hook('').pk);
      return items.flatMap(({ kind, target, seenAt, ids, ...places }) =>
        [...((ids ?? []) as Set<string>)].map((id) => {
          const [settledTo, listedAt] = placeOf(id).map((name) => places[name] ?? 0);
          return { kind, target, seenAt, id, settledTo, listedAt } as KnownHook;
        }),
      );
    },
    async keepPlace(hook) {
      const { id, settledTo, listedAt } = hook;
      const [settled, listed] = placeOf(id);
      await table.update(
        keys.hook(targetName(hook)),
        { expression: `SET #${settled} = :settledTo, #${listed} = :listedAt`, values: { settledTo, listedAt } },
        { expression: 'contains(#ids, :id)', values: { id } },
      );
    },
    async forget(hook) {
      // A hook that comes back is listed from the start.
      const place = placeOf(hook.id).map((name) => `#${name}`);
      await table.update(
        keys.hook(targetName(hook)),
        { expression: `DELETE #ids :ids REMOVE ${place.join(', ')}`, values: { ids: new Set([hook.id]) } },
        { expression: '#seenAt = :seenAt', values: { seenAt: hook.seenAt } },
      );
    },
  };
}

/** The attributes of a hook's place in the item of its target. */
const placeOf = (id: string) => [`settledTo${id}`, `listedAt${id}`];

import * as z from 'zod/mini';
import { expiry, isExpired } from '../table/expiry.ts';
import { type Key, keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import type { GithubDelivery } from './delivery.ts';

/**
 * A hook that delivers to us. Hooks of an enterprise are none of these: GitHub's API does not list what they deliver.
 * https://docs.github.com/en/webhooks/types-of-webhooks
 */
export interface Hook {
  /** `X-GitHub-Hook-Installation-Target-Type`; an App is an `integration` there. */
  kind: 'integration' | 'repository' | 'organization';
  /** `X-GitHub-Hook-ID` */
  id: string;
  /** `X-GitHub-Hook-Installation-Target-ID`: of the App, the repository or the organization. */
  targetId: string;
  /** What the API calls the target: owner/name, the login of the organization, the id of the App. */
  target: string;
}

/** How far a hook's deliveries have been listed. All times are GitHub's, in epoch milliseconds. */
export interface Place {
  /** All that was delivered up to then has been seen, but for the gap. */
  listedTo: number;
  /** What a run left unseen when it ended before its time: from that page of the list back to that time. */
  gap?: { cursor: string; from: number };
}

export interface KnownHook extends Hook {
  /** Epoch milliseconds: when it was last known to exist, by a delivery or by its list. */
  seenAt: number;
  /** Undefined as long as it has never been listed. */
  place?: Place;
  /** Epoch milliseconds: when it was last listed; 0 for never. */
  listedAt: number;
}

/** The hooks that deliver to us, known from their deliveries. */
export interface Hooks {
  /**
   * Notes the hook of a verified delivery, once per process and day. Never fails: the delivery is worth more than the
   * note, which the next one makes up for.
   */
  note(delivery: GithubDelivery, headers: Readonly<Record<string, string | undefined>>): Promise<void>;
  /** Those listed longest ago come first. */
  known(): Promise<KnownHook[]>;
  /** Keeps how far a hook has been listed, unless it was forgotten meanwhile. */
  keepPlace(hook: Hook, place: Place): Promise<void>;
  /** Forgets a hook, unless it delivered meanwhile. */
  forget(hook: KnownHook): Promise<void>;
}

const NOTED_FOR_MS = 86_400_000;

const numericId = z.string().check(z.regex(/^\d{1,20}$/));
const identity = { id: numericId, targetId: numericId };
const fullName = z.string().check(z.regex(/^[\w.-]+\/[\w.-]+$/));
const login = z.string().check(z.regex(/^[\w-]+$/));
/** A hook by its headers and the signed payload, from which everything comes that a path is made of but for numbers. */
const signedHook = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('integration'), ...identity }),
  z.object({
    kind: z.literal('repository'),
    ...identity,
    payload: z.object({ repository: z.object({ full_name: fullName }) }),
  }),
  z.object({
    kind: z.literal('organization'),
    ...identity,
    payload: z.object({ organization: z.object({ login }) }),
  }),
]);

/**
 * The hook that brought a delivery; undefined where the headers are missing or name one that GitHub lists nothing of.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
 *
 * @param headers with lowercase names
 */
function hookOf({ payload }: GithubDelivery, headers: Readonly<Record<string, string | undefined>>): Hook | undefined {
  const { data: hook } = signedHook.safeParse({
    kind: headers['x-github-hook-installation-target-type'],
    id: headers['x-github-hook-id'],
    targetId: headers['x-github-hook-installation-target-id'],
    payload,
  });
  return hook && { kind: hook.kind, id: hook.id, targetId: hook.targetId, target: targetOf(hook) };
}

function targetOf(hook: z.output<typeof signedHook>): string {
  if (hook.kind === 'integration') return hook.targetId;
  return hook.kind === 'repository' ? hook.payload.repository.full_name : hook.payload.organization.login;
}

/** What tells hooks apart. An App has one hook, whose list is asked for without its id. */
export function hookName({ kind, targetId, id }: Hook): string {
  return kind === 'integration' ? `${kind}#${targetId}` : `${kind}#${targetId}#${id}`;
}

export function createHooks(table: Table, clock: () => number, log: Pick<Console, 'warn'>): Hooks {
  const notedAt = new Map<string, number>();
  const key = (hook: Hook): Key => keys.hook(hookName(hook));

  return {
    async note(delivery, headers) {
      const hook = hookOf(delivery, headers);
      if (!hook) return;
      const now = clock();
      // By its target too, for a repository may have been renamed.
      const noted = `${hookName(hook)} ${hook.target}`;
      if (now - (notedAt.get(noted) ?? Number.NEGATIVE_INFINITY) < NOTED_FOR_MS) return;
      try {
        await table.update(key(hook), {
          expression:
            'SET #kind = :kind, #id = :id, #targetId = :targetId, #target = :target, #seenAt = :now, #expiresAt = :expires',
          values: { ...hook, now, expires: expiry(now) },
        });
        notedAt.set(noted, now);
      } catch (error) {
        log.warn({ message: 'hook not noted', hookId: hook.id, error: String(error) });
      }
    },
    async known() {
      const items = await table.partition(keys.hook('').pk);
      const known = items.filter((item) => !isExpired(item, clock())).map(toKnownHook);
      return known.sort((a, b) => a.listedAt - b.listedAt);
    },
    async keepPlace(hook, { listedTo, gap }) {
      const now = clock();
      const set = 'SET #listedTo = :listedTo, #listedAt = :now, #seenAt = :now, #expiresAt = :expiresAt';
      await table.update(
        key(hook),
        {
          expression: gap ? `${set}, #gap = :gap` : `${set} REMOVE #gap`,
          values: { listedTo, gap, now, expiresAt: expiry(now) },
        },
        { expression: 'attribute_exists(#pk)' },
      );
    },
    async forget(hook) {
      await table.delete(key(hook), { expression: '#seenAt = :seenAt', values: { seenAt: hook.seenAt } });
    },
  };
}

function toKnownHook(item: Item): KnownHook {
  const { kind, id, targetId, target, seenAt, listedTo, gap, listedAt = 0 } = item;
  const known = { kind, id, targetId, target, seenAt, listedAt } as KnownHook;
  return listedTo === undefined ? known : { ...known, place: { listedTo, ...(gap ? { gap } : {}) } as Place };
}

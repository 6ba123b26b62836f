import { expiry, isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Expression, Table } from '../table/table.ts';
import { expires, fromItem, heldBy, toItem } from './link-item.ts';
import { carry, type Link, leave } from './link-life.ts';

/** A step in the life of a link, as in link-life.ts. */
export type Transition<State> = (link: Link<State>) => Link<State> | undefined;

/**
 * The links of GitHub's issues, by the id that GitHub gives an issue: `issue-653165`. What an issue has become in the
 * service, and the newest state of it that is known. A link that holds a claim or a defect never expires: as long as it
 * is there, there is no second defect.
 */
export interface Links<State = unknown> {
  /** @returns an unclaimed link where there is none */
  get(entity: string): Promise<Link<State>>;
  /**
   * Makes a transition in one conditional write. Where another write comes first, the transition is tried again on what
   * that one left behind.
   *
   * @param seen makes the transition on the link that was read, and only if nothing was written since
   * @returns the link after it; undefined where the transition does not apply, or where something was written since
   */
  change(entity: string, transition: Transition<State>, seen?: Link<State>): Promise<Link<State> | undefined>;
  /**
   * Makes the first transition of an entity that nearly always has no link yet, without reading one first. Where the
   * entity or its name is known already, this is `change`.
   */
  begin(entity: string, transition: Transition<State>): Promise<Link<State> | undefined>;
  /**
   * Takes the claim or the defect of an issue along to the link of the issue that it was transferred to, and sends
   * whoever comes for the old one there.
   *
   * @param connection of the new repository; what is on another one stays behind. Undefined: the new one is not configured
   */
  move(from: string, to: string, connection: string | undefined): Promise<void>;
  /** @param name `owner/name#number`, in any letter case. @returns the entity whose issue had that name last */
  named(name: string): Promise<string | undefined>;
}

const UNLESS_THERE: Expression = { expression: 'attribute_not_exists(#pk)' };

export function createLinks<State>(table: Table, clock: () => number): Links<State> {
  async function get(entity: string): Promise<Link<State>> {
    const item = await table.getEvenExpired(keys.link(entity));
    if (!item) return { life: 'unclaimed' };
    const link = fromItem<State>(item);
    // An expired one counts on from its last turn, on which the next write depends.
    if (link.life !== 'unclaimed' || !isExpired(item, clock())) return link;
    return { life: 'unclaimed', ...(link.turn !== undefined && { turn: link.turn }) };
  }

  async function putLink(entity: string, link: Link<State>, condition: Expression): Promise<boolean> {
    return table.put({ ...keys.link(entity), ...toItem(link, clock()) }, condition);
  }

  /** Written before the link, so that every link is found by its name. It lasts as long as the link. */
  async function putName(entity: string, link: Link<State>, condition?: Expression): Promise<boolean> {
    const name = link.newest?.name;
    if (name === undefined) return true;
    const lasts = expires(link) ? { expiresAt: expiry(clock()) } : {};
    return table.put({ ...keys.linkName(name), entity, ...lasts }, condition);
  }

  async function noteName(entity: string, last: Link<State>, next: Link<State>): Promise<void> {
    const isNoted = !expires(next) && !expires(last) && next.newest?.name === last.newest?.name;
    if (!isNoted) await putName(entity, next);
  }

  const links: Links<State> = {
    get,
    async change(entity, transition, seen) {
      for (;;) {
        const link = seen ?? (await get(entity));
        const changed = transition(link);
        if (!changed || changed === link) return changed;
        const next = { ...changed, turn: (link.turn ?? 0) + 1 };
        await noteName(entity, link, next);
        const unchanged =
          link.turn === undefined
            ? { expression: 'attribute_not_exists(#turn)' }
            : { expression: '#turn = :turn', values: { turn: link.turn } };
        if (await putLink(entity, next, unchanged)) return next;
        if (seen) return undefined;
      }
    },
    async begin(entity, transition) {
      const first = transition({ life: 'unclaimed' });
      const link = first && { ...first, turn: 1 };
      // A name that is there may be that of another issue, or lead to a link that lasts longer than this one would.
      const begun = link && (await putName(entity, link, UNLESS_THERE)) && (await putLink(entity, link, UNLESS_THERE));
      return begun ? link : links.change(entity, transition);
    },
    async move(from, to, connection) {
      for (;;) {
        const old = await get(from);
        if (old.life === 'moved') return;
        const { claim, defect } = heldBy(old);
        if (claim && (connection === undefined || connection === claim.connection)) {
          await links.change(to, (link) => carry(link, { claim, ...(defect && { defect }) }, from));
        }
        if (await links.change(from, (link) => leave(link, to), old)) return;
      }
    },
    async named(name) {
      const item = await table.get(keys.linkName(name));
      return item && String(item.entity);
    },
  };
  return links;
}

import { expiry, isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Expression, Table } from '../table/table.ts';
import { expires, fromItem, heldBy, toItem } from './link-item.ts';
import { carry, type Link, leave } from './link-life.ts';

/** A transition from link-life.ts. */
export type Transition<State> = (link: Link<State>) => Link<State> | undefined;

/**
 * The links of GitHub issues, keyed by GitHub's id of the issue: `issue-653165`. A link records the defect in
 * the service and the newest known state of the issue. A link that holds a claim or a defect never expires, and while
 * it exists, no second defect is created.
 */
export interface Links<State = unknown> {
  /** @returns an unclaimed link if there is none */
  get(entity: string): Promise<Link<State>>;
  /**
   * Makes a transition in one conditional write. If another write comes first, retries the transition on the new link.
   *
   * @param seen the link that was read; the transition is made only if nothing was written since
   * @returns the link after the transition; undefined if it does not apply, or if something was written since
   */
  change(entity: string, transition: Transition<State>, seen?: Link<State>): Promise<Link<State> | undefined>;
  /**
   * Makes the first transition of an entity without reading its link first, because it almost never has one yet. If the
   * entity or its name is already known, this is the same as `change`.
   */
  begin(entity: string, transition: Transition<State>): Promise<Link<State> | undefined>;
  /**
   * Moves an issue's claim or defect to the link of the issue that it was transferred to. The old link then points to
   * the new one.
   *
   * @param connection the new repository's connection; a defect on another connection stays behind. Undefined if the
   * new repository is not configured
   */
  move(from: string, to: string, connection: string | undefined): Promise<void>;
  /** @param name `owner/name#number`, in any letter case. @returns the entity of the issue that had that name last */
  named(name: string): Promise<string | undefined>;
}

const UNLESS_THERE: Expression = { expression: 'attribute_not_exists(#pk)' };

export function createLinks<State>(table: Table, clock: () => number): Links<State> {
  async function get(entity: string): Promise<Link<State>> {
    const item = await table.getEvenExpired(keys.link(entity));
    if (!item) return { life: 'unclaimed' };
    const link = fromItem<State>(item);
    // An expired link keeps counting from its last turn, because the next write depends on it.
    if (link.life !== 'unclaimed' || !isExpired(item, clock())) return link;
    return { life: 'unclaimed', ...(link.turn !== undefined && { turn: link.turn }) };
  }

  async function putLink(entity: string, link: Link<State>, condition: Expression): Promise<boolean> {
    return table.put({ ...keys.link(entity), ...toItem(link, clock()) }, condition);
  }

  /** Written before the link, so that every link can be found by its name. It lasts as long as the link. */
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
      // An existing name may belong to another issue, or to a link that lasts longer than this one would.
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

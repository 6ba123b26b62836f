import { expiry, isExpired } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Expression, Table } from '../state/table/table.ts';
import { UnreadableItem, unchangedSince } from '../state/table/unreadable-item.ts';
import type { IssueState } from './issue-state.ts';
import { expires, fromItem, toItem } from './link-item.ts';
import { arrive, heldBy, type IssueName, type Link, leave, type Readable } from './link-life.ts';

/** A transition from link-life.ts. */
export type Transition = (link: Link<IssueState>) => Link<IssueState> | undefined;

/**
 * The links of GitHub issues, keyed by GitHub's id of the issue: `issue-653165`. A link records the issue's defect in
 * the service and the newest known state of the issue. A link that holds a claim or a defect never expires, and while
 * it exists, no second defect is created.
 */
export interface Links {
  /** @returns an unclaimed link if there is none. @throws {UnreadableItem} */
  get(entity: string): Promise<Readable<IssueState>>;
  /** The same for people, who are shown a link that cannot be read, too. */
  look(entity: string): Promise<Link<IssueState>>;
  /**
   * Makes a transition in one conditional write. If another write comes first, retries the transition on the new link.
   *
   * @param seen the link that was read; the transition is made only if nothing was written since
   * @returns the link after the transition; undefined if it does not apply, or if something was written since
   */
  change(entity: string, transition: Transition, seen?: Link<IssueState>): Promise<Link<IssueState> | undefined>;
  /**
   * Makes the first transition of an entity without reading its link first, because it almost never has one yet, and
   * without noting its name, which the claim of its job does. If the entity is already known, this is the same as
   * `change`.
   */
  begin(entity: string, transition: Transition): Promise<Link<IssueState> | undefined>;
  /**
   * Records a transfer. The claim or defect of the issue moves to the link of the new issue, and the old link then points
   * to the new one. A repeat has no effect.
   *
   * @param connection the new repository's connection; a defect on another connection stays behind. Undefined if the
   * new repository is not configured
   * @param at the version of the issue; ISO 8601
   * @throws {UnreadableItem} if either link cannot be read
   */
  move(from: string, to: IssueName, connection: string | undefined, at: string): Promise<void>;
  /** @param name `owner/name#number`, in any letter case. @returns the entity of the issue that had that name last */
  named(name: string): Promise<string | undefined>;
}

const UNLESS_THERE: Expression = { expression: 'attribute_not_exists(#pk)' };

export function createLinks(table: Table, clock: () => number): Links {
  async function look(entity: string): Promise<Link<IssueState>> {
    const item = await table.getEvenExpired(keys.link(entity));
    if (!item) return { life: 'unclaimed' };
    const link = fromItem(item, clock());
    // An expired link keeps counting from its last turn, because the next write depends on it.
    if (link.life !== 'unclaimed' || !isExpired(item, clock())) return link;
    return { life: 'unclaimed', ...(link.turn !== undefined && { turn: link.turn }) };
  }

  async function get(entity: string): Promise<Readable<IssueState>> {
    const link = await look(entity);
    if (link.life !== 'unreadable') return link;
    const name = link.newest?.name ?? 'owner/repo#42';
    throw new UnreadableItem(
      `the link of ${entity} cannot be read: ${link.wrong.join(', ')} cannot have the stored value. Nothing is sent for the issue. Look in the service which defect the issue has, run relay issue ${name} --set <defect id>, or --clear if it has none, and replay the job`,
    );
  }

  async function putLink(entity: string, link: Link<IssueState>, condition: Expression): Promise<boolean> {
    return table.put({ ...keys.link(entity), ...toItem(link, clock()) }, condition);
  }

  /** Written before the link, so that every link can be found by its name. It lasts as long as the link. */
  async function noteName(entity: string, last: Link<IssueState>, next: Link<IssueState>): Promise<void> {
    const name = next.newest?.name;
    // What `begin` wrote has no name before it is claimed.
    const isClaimed = last.life === 'unclaimed' && next.life !== 'unclaimed';
    const isNoted = !isClaimed && !expires(next) && !expires(last) && name === last.newest?.name;
    if (name === undefined || isNoted) return;
    const lasts = expires(next) ? { expiresAt: expiry(clock()) } : {};
    await table.put({ ...keys.linkName(name), entity, ...lasts });
  }

  /** Where the transfers of an issue end, without the one back to `from`. */
  async function endOf(entity: string, from: string, passed: readonly string[] = []): Promise<string> {
    const link = await get(entity);
    const isEnd = link.life !== 'moved' || link.to.entity === from || passed.includes(link.to.entity);
    return isEnd ? entity : endOf(link.to.entity, from, [...passed, entity]);
  }

  const links: Links = {
    get,
    look,
    async change(entity, transition, seen) {
      for (;;) {
        const link = seen ?? (await look(entity));
        const changed = transition(link);
        if (!changed || changed === link) return changed;
        // What cannot be read counts on from a number that no earlier turn had.
        const last = link.turn ?? (link.life === 'unreadable' ? clock() : 0);
        const next = { ...changed, turn: last + 1 };
        await noteName(entity, link, next);
        const turn = link.life === 'unreadable' ? link.item.turn : link.turn;
        if (await putLink(entity, next, unchangedSince('turn', turn))) return next;
        if (seen) return undefined;
      }
    },
    async begin(entity, transition) {
      const first = transition({ life: 'unclaimed' });
      const link = first && { ...first, turn: 1 };
      const begun = link && (await putLink(entity, link, UNLESS_THERE));
      return begun ? link : links.change(entity, transition);
    },
    async move(from, to, connection, at) {
      for (;;) {
        const old = await get(from);
        if (old.life === 'moved') return;
        const next = await get(to.entity);
        if (next.life === 'moved' && next.to.entity === from && at < next.at) return;
        const { claim } = heldBy(old);
        const moves = !claim || connection === undefined || connection === claim.connection;
        // A later transfer may have been told first.
        const there = await endOf(to.entity, from);
        const arrived = await links.change(there, (link) => arrive(link, old, { from, to: there, moves }));
        if (arrived && (await links.change(from, (link) => leave(link, to, at), old))) return;
      }
    },
    async named(name) {
      const item = await table.get(keys.linkName(name));
      return typeof item?.entity === 'string' ? item.entity : undefined;
    },
  };
  return links;
}

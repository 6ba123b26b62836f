import { expiry, isExpired } from '../state/table/expiry.ts';
import { isNewer } from '../state/table/form.ts';
import { keys } from '../state/table/keys.ts';
import type { Expression, Table } from '../state/table/table.ts';
import { NewerItem, UnreadableItem, unchangedSince } from '../state/table/unreadable-item.ts';
import { expires, fromItem, toItem } from './link-item.ts';
import { arrive, heldBy, type IssueName, type Link, leave, type Readable } from './link-life.ts';

export type Transition = (link: Link) => Link | undefined;

/**
 * The links of GitHub issues, keyed by GitHub's id of the issue: `issue-653165`. A link records the issue's defect in
 * the service and the newest known state of the issue. A link that holds a claim or a defect never expires, and while
 * it exists, no second defect is created.
 */
export interface Links {
  /** @returns an unclaimed link if there is none. @throws {UnreadableItem} */
  get(entity: string): Promise<Readable>;
  /** The same for people, who are shown a link that cannot be read, too. */
  look(entity: string): Promise<Link>;
  /**
   * Makes a transition in one conditional write. If another write comes first, retries the transition on the new link.
   *
   * @param seen the link that was read; the transition is made only if nothing was written since
   * @returns the link after the transition; undefined if it does not apply, or if something was written since
   */
  change(entity: string, transition: Transition, seen?: Link): Promise<Link | undefined>;
  /**
   * Makes the first transition of an entity without reading its link first, because it almost never has one yet, and
   * without noting its name, which the claim of its job does. If the entity is already known, this is the same as
   * `change`.
   */
  begin(entity: string, transition: Transition): Promise<Link | undefined>;
  /**
   * Records a transfer. The claim or defect of the issue moves to the link of the new issue if that is free, and the old
   * link then points to the new one. Otherwise the new link says that something arrived, and a person decides. A repeat
   * has no effect.
   *
   * @param connectionOf of the repository of an issue; a claim or defect on another connection stays where it is
   * @throws {UnreadableItem} if either link cannot be read
   */
  move(from: string, to: IssueName, connectionOf: (name: string) => string | undefined): Promise<void>;
  /** @param name `owner/name#number`, in any letter case. @returns the entity of the issue that had that name last */
  named(name: string): Promise<string | undefined>;
  /**
   * The same for one run of a job, which reads each link once. A write shows whether the link that is held is still current;
   * if it is not, the link is read again. Where nothing is written, an old link does no harm: each state that was stored
   * since has a job that comes after this one, and what people decide waits for the next event, as after the run.
   */
  held(): Links;
}

/** Tries before giving up; also the longest chain of transfers whose events arrive in reverse order. */
const MOVE_TRIES = 20;
const UNLESS_THERE: Expression = { expression: 'attribute_not_exists(#pk)' };

/** @param held the links that were read or written last, by their entities */
export function createLinks(table: Table, clock: () => number, held?: Map<string, Link>): Links {
  const look = async (entity: string) => held?.get(entity) ?? (await read(entity));

  async function read(entity: string): Promise<Link> {
    const item = (await table.getEvenExpired(keys.link(entity))) ?? { life: 'unclaimed' };
    let link = fromItem(item, clock());
    // An expired link keeps counting from its last turn, because the next write depends on it.
    if (link.life === 'unclaimed' && isExpired(item, clock()))
      link = { life: 'unclaimed', ...(link.turn !== undefined && { turn: link.turn }) };
    held?.set(entity, link);
    return link;
  }

  function readable(entity: string, link: Link): Readable {
    if (link.life !== 'unreadable') return link;
    if (isNewer(link.item)) throw new NewerItem(`the link of ${entity}`);
    const name = link.newest?.name ?? 'owner/repo#42';
    throw new UnreadableItem(
      `the link of ${entity} cannot be read: impossible value of ${link.wrong.join(', ')}. Nothing is sent for the issue. Look in the service which defect the issue has, run npx partner-relay issue ${name} --set <defect id>, or --clear if it has none, and replay the job`,
    );
  }

  async function putLink(entity: string, link: Link, condition: Expression): Promise<boolean> {
    held?.delete(entity);
    const isWritten = await table.put({ ...keys.link(entity), ...toItem(link, clock()) }, condition);
    if (isWritten) held?.set(entity, link);
    return isWritten;
  }

  /** Written before the link, so that every link can be found by its name. It lasts as long as the link. */
  async function noteName(entity: string, last: Link, next: Link): Promise<void> {
    const name = next.newest?.name;
    // What `begin` wrote has no name before it is claimed.
    const isClaimed = last.life === 'unclaimed' && next.life !== 'unclaimed';
    const isNoted = !isClaimed && !expires(next) && !expires(last) && name === last.newest?.name;
    if (name === undefined || isNoted) return;
    const lasts = expires(next) ? { expiresAt: expiry(clock()) } : {};
    await table.put({ ...keys.linkName(name), entity, ...lasts });
  }

  const links: Links = {
    get: async (entity) => readable(entity, await look(entity)),
    look,
    async change(entity, transition, seen) {
      for (let link = seen ?? (await look(entity)); ; link = await read(entity)) {
        const changed = transition(link);
        if (!changed || changed === link) return changed;
        // An unreadable link has no turn. The clock is above every earlier turn.
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
    async move(from, to, connectionOf) {
      for (let tries = 0; tries < MOVE_TRIES; tries++) {
        // An old link of one issue would decide what is written to the other's.
        const [old, next] = [readable(from, await read(from)), readable(to.entity, await read(to.entity))];
        if (old.life === 'moved') return;
        // The later transfer was told first.
        if (next.life === 'moved' && next.to.entity !== from) {
          to = next.to;
          continue;
        }
        const { claim } = heldBy(old);
        if (claim && claim.connection !== connectionOf(to.name)) return;
        const arrived = await links.change(to.entity, (link) => arrive(link, old, from), next);
        if (!arrived) continue;
        if (arrived.arrived?.from === from) return;
        if (await links.change(from, (link) => leave(link, to), old)) return;
      }
      throw new Error(`the links of ${from} and ${to.entity} change all the time`);
    },
    async named(name) {
      const item = await table.get(keys.linkName(name));
      return typeof item?.entity === 'string' ? item.entity : undefined;
    },
    held: () => createLinks(table, clock, new Map()),
  };
  return links;
}

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
 * the service and the newest known state of the issue. A link with a claim or a defect never expires, and prevents a
 * second defect.
 */
export interface Links {
  /** Returns the link, or an unclaimed link if there is none. @throws {UnreadableItem} */
  get(entity: string): Promise<Readable>;
  /** Returns the link for people, even if it is unreadable. */
  look(entity: string): Promise<Link>;
  /**
   * Makes a transition in one conditional write. If another write comes first, retries the transition on the new link.
   *
   * @param seen the link that was read; the transition is made only if there was no write since
   * @returns the link after the transition; undefined if it does not apply, or if there was a write since
   */
  change(entity: string, transition: Transition, seen?: Link): Promise<Link | undefined>;
  /**
   * Makes the first transition of an entity without reading its link, because it almost never has one yet. Does not
   * record its name, because the claim of its job does. If the entity already has a link, does the same as `change`.
   */
  begin(entity: string, transition: Transition): Promise<Link | undefined>;
  /**
   * Records a transfer. The claim or defect of the issue moves to the link of the new issue if that is free, and the
   * old link then points to the new one. Otherwise the new link records the arrival, and a person decides. A repeat has
   * no effect.
   *
   * @param connectionOf returns the connection of the repository in an issue's name. A claim or defect on another
   * connection stays where it is
   * @throws {UnreadableItem} if either link is unreadable
   */
  move(from: string, to: IssueName, connectionOf: (name: string) => string | undefined): Promise<void>;
  /**
   * @param name `owner/name#number`, in upper or lower case. @returns the entity of the issue that had that name last
   */
  named(name: string): Promise<string | undefined>;
  /**
   * Returns links for one run of a job, which reads each link once. A write shows whether the held link is still
   * current; if not, it is read again. If the run writes nothing, an old link is harmless: each state stored since has
   * a job after this one, and a person's decision waits for the next event, as after the run.
   */
  held(): Links;
}

/** Tries before giving up; also the longest chain of transfers whose events arrive in reverse order. */
const MOVE_TRIES = 20;
const UNLESS_THERE: Expression = { expression: 'attribute_not_exists(#pk)' };

/** @param held the links that were last read or written, by entity */
export function createLinks(table: Table, clock: () => number, held?: Map<string, Link>): Links {
  const look = async (entity: string) => held?.get(entity) ?? (await read(entity));

  async function read(entity: string): Promise<Link> {
    const item = (await table.getEvenExpired(keys.link(entity))) ?? { life: 'unclaimed' };
    let link = fromItem(item, clock());
    // An expired link keeps its turn, because the next write depends on it.
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

  /**
   * Records the name before the link, so that every link can be found by its name. The record lasts as long as the
   * link.
   */
  async function noteName(entity: string, last: Link, next: Link): Promise<void> {
    const name = next.newest?.name;
    // `begin` wrote the link without its name, which is recorded when the link is claimed.
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
        // An unreadable link may have no turn, so continue from the clock, which is above every earlier turn.
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
        // Reads both links again, because an old copy of one would decide what is written to the other.
        const [old, next] = [readable(from, await read(from)), readable(to.entity, await read(to.entity))];
        if (old.life === 'moved') return;
        // The event of the later transfer arrived first.
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

import type { SectionBlock } from '@slack/types';
import * as z from 'zod/mini';
import { plainSection, section, sentence } from '../platforms/slack/messages.ts';
import { time } from '../platforms/slack/mrkdwn.ts';
import type { OpenBreaker } from '../service/connection/breaker-item.ts';
import { keys } from '../state/table/keys.ts';
import { unchangedSince } from '../state/table/unreadable-item.ts';
import { createNoticePosts, type NoticePostsOptions } from './notice-posts.ts';

/** Shorter outages end before a person could act. */
const LASTS_MS = 5 * 60_000;

interface Health {
  down: OpenBreaker | undefined;
  /**
   * True if the connection's last call failed. After `resume`, this may be the case without the connection being down.
   */
  isFailing: boolean;
}

/** A connection's outage that has a notice, until the notice of its end is posted. */
const outage = z.object({ since: z.number(), isOfKey: z.boolean() });

const nameOf = (connection: string, { since }: z.output<typeof outage>) => `outage ${connection} ${since}`;
const overOf = (connection: string, one: z.output<typeof outage>) => `${nameOf(connection, one)} over`;

/**
 * Tells the contact's channel that a connection has been down for five minutes or that its key is refused, and later
 * that it works again. The outage is stored before the first notice and until the last one, so every run finds the
 * notices that are left.
 */
export function createOutageNotices(options: NoticePostsOptions & { stage: string | undefined }) {
  const { table, stage, clock } = options;
  const posts = createNoticePosts(options);

  async function once(name: string, sections: SectionBlock[]): Promise<boolean> {
    const known = await posts.read(name);
    return known?.ts !== undefined || posts.post(name, known, sections);
  }

  async function tellOutage(connection: string, { down, isFailing }: Health): Promise<void> {
    const key = keys.parkedNotice(`outage ${connection}`);
    let known = outage.safeParse(await table.get(key)).data;
    // A run may have stopped after the notice of the end.
    if (known && (await posts.read(overOf(connection, known)))?.ts !== undefined) {
      await table.delete(key);
      known = undefined;
    }
    const isOfKey = down?.refusesKey === true;
    const isNews = down && (known ? isOfKey && !known.isOfKey : isOfKey || clock() - down.since >= LASTS_MS);
    if (isNews) {
      const asRead = unchangedSince('since', known?.since);
      known = { since: down.since, isOfKey };
      // Another run has just begun to post the notice.
      if (!(await table.put({ ...key, ...known }, asRead))) return;
    }
    if (!known) return;
    const { since } = known;
    if (!(await once(nameOf(connection, known), wordsOf(connection, known, down?.why))) || down || isFailing) return;
    const [what, had] = known.isOfKey
      ? [`The service accepts the key of ${connection} again.`, 'It had refused it']
      : [`${connection} works again.`, 'It had been down'];
    const over = `:white_check_mark: *${what}* ${had} since ${time(since)}. Waiting jobs continue by themselves.`;
    if (await once(overOf(connection, known), [section(over)])) await table.delete(key);
  }

  function wordsOf(connection: string, { since, isOfKey }: z.output<typeof outage>, why: string | undefined) {
    const relay = `npx partner-relay ${stage === undefined ? '' : `--stage ${stage} `}`;
    const [what, todo] = isOfKey
      ? [
          `Since ${time(since)}, the service has refused the key of the connection ${connection}.`,
          `Enter a new one: \`${relay}secrets set partner/${connection}\`${stage === undefined ? ', and restart the relay' : ''}. Waiting jobs then continue by themselves.`,
        ]
      : [
          `${connection} has been down since ${time(since)}.`,
          'Partner Relay keeps trying, and waiting jobs continue by themselves.',
        ];
    return [
      section(`:octagonal_sign: *${what}* ${todo} See docs/stuck.md#connections.`),
      ...(why === undefined ? [] : [plainSection(sentence(why))]),
    ];
  }

  return {
    /** Posts the notices that are left. */
    tell: (connection: string, health: Health): Promise<void> =>
      posts.tryToTell('about an outage', () => tellOutage(connection, health)),
  };
}

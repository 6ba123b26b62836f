import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { interact, MIRA, press, submit } from '../slack-requests.ts';
import { teamInput } from '../timesheets/team.ts';
import { DAY, mrkdwnOf, people, startFriday, type TeamRelay, timesheets, WEEK } from './timesheet-team.ts';

const { mira } = people;
const [, , , , FRIDAY] = WEEK;

let relay: TeamRelay;

const ALL = ['Aisha Rahman', 'Mira Novak', 'Tomasz Zielinski'];
const SUMMARY = { channel: 'C0PLATFORM', on: 'mon', at: '09:00' } as const;
const MONDAY_AFTER = Date.parse('2026-11-23T09:00:00+01:00');

/** Starts a calendar server. @returns its address */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-address.ics`;
}
const event = (...lines: string[]) =>
  ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', ...lines, 'END:VEVENT', 'END:VCALENDAR'].join('\r\n');
const answer =
  (body: string, status = 200, headers = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

/** Starts the relay of a team with a calendar at the address, if there is one. */
async function startWithCalendar(address: string | undefined, settings = {}): Promise<void> {
  relay = await startFriday(timesheets({ absence: { calendar: true }, ...settings }));
  const { secrets, secretPrefix } = relay.stack;
  if (address !== undefined) secrets.put(`${secretPrefix}calendar/${teamInput.name}`, { address });
}

async function summary(): Promise<string> {
  relay.clock.now = MONDAY_AFTER;
  await relay.remind();
  const [said] = relay.slack.messages.filter(({ channel }) => channel === SUMMARY.channel);
  return said ? mrkdwnOf(said) : '';
}

describe("a team's calendar", () => {
  it.each([
    ['by an address', ['SUMMARY:Holidays', `ATTENDEE:mailto:${mira.email.toUpperCase()}`]],
    ['by a name in the title', ['SUMMARY:Vacation: MIRA Novak (approved)']],
    ['by an address in the title', [`SUMMARY:${mira.email}: ill`, 'ORGANIZER:mailto:hr@example.com']],
  ])('prevents the reminder of a person who is away, %s, and the summary says so', async (_, lines) => {
    const calendar = await serve(answer(event('DTSTART;VALUE=DATE:20261119', 'DTEND;VALUE=DATE:20261122', ...lines)));
    await startWithCalendar(calendar, { summary: SUMMARY });
    await relay.remind();
    expect(relay.reminded()).toEqual(['Aisha Rahman', 'Tomasz Zielinski']);
    expect(await relay.outcomes('team-timesheets')).toEqual([`2 of 2 have time missing for ${FRIDAY}; 1 away`]);
    expect(await summary()).toMatch(/Mira Novak.*short\*, away on 2026-11-20/);
  });

  it.each<[string, RequestListener, string]>([
    ['is missing', answer('', 404), 'it answers with 404'],
    ['does not answer', (request) => request.destroy(), 'it does not answer'],
    ['is a page', answer('<html>'.padEnd(5_000_000)), 'it is not an iCalendar file'],
    ['is too large', answer('A'.repeat(5_000_001)), 'it is larger than 5 MB'],
    ['redirects for ever', answer('', 302, { location: '/again' }), 'it redirects more than 3 times'],
    ['redirects to a file', answer('', 302, { location: 'file:///etc/passwd' }), 'it redirects to another protocol'],
  ])('that %s stops no reminder, and the summary says so', async (_, listener, why) => {
    const calendar = await serve(listener);
    await startWithCalendar(calendar, { summary: SUMMARY });
    await relay.remind();
    expect(relay.reminded()).toEqual(ALL);
    expect(await relay.outcomes('team-timesheets')).toEqual([expect.stringContaining(`cannot be read: `)]);
    expect((await relay.outcomes('team-timesheets')).join()).toContain(why);
    expect(JSON.stringify([relay.log, await relay.jobs()])).not.toContain('secret-address');
    expect(await summary()).toContain('The calendar of the team could not be read on 2026-11-20.');
  });

  const away = (who: string) => event('DTSTART:20261120', `SUMMARY:${who}`);
  const inUtf16 = { 'content-type': 'text/calendar; charset=utf-16' };
  const broken = ['DTSTART:soon', 'END:VEVENT', 'BEGIN:VEVENT', 'DTSTART:20261120', 'SUMMARY:Mira Novak'];
  it.each<[string, Buffer, Record<string, string>, string]>([
    ['in another encoding', Buffer.from(away('Mira Novak, fällig'), 'latin1'), {}, ''],
    ['in an encoding that the answer names', Buffer.from(away('Mira Novak'), 'utf16le'), inUtf16, ''],
    ['with lines folded in a character', Buffer.from(away('Mira\u00c2\r\n \u00a0Novak'), 'latin1'), {}, ''],
    ['with a broken event', Buffer.from(event(...broken)), {}, 'event 1: a DTSTART is not a date or time'],
  ])('is read %s, and the job names the parts that it could not read', async (_, bytes, headers, said) => {
    await startWithCalendar(await serve((_, response) => void response.writeHead(200, headers).end(bytes)));
    await relay.remind();
    expect(relay.reminded()).toEqual(['Aisha Rahman', 'Tomasz Zielinski']);
    const leftOut = said === '' ? '' : `; of the team's calendar cannot be read: ${said}`;
    expect(await relay.outcomes('team-timesheets')).toEqual([
      `2 of 2 have time missing for ${FRIDAY}; 1 away${leftOut}`,
    ]);
  });

  it('without an entered address stops no reminder, and the job says how to enter it', async () => {
    await startWithCalendar(undefined);
    await relay.remind();
    expect(relay.reminded()).toEqual(ALL);
    expect((await relay.outcomes('team-timesheets')).join()).toContain(
      `npx partner-relay secrets set calendar/${teamInput.name}`,
    );
  });

  it.each([
    ['SUMMARY:Mira Novakova', ALL],
    ['SUMMARY:Release', ALL],
    ['SUMMARY:Mira', ALL],
    ['SUMMARY:Mira Novak', ['Aisha Rahman', 'Tomasz Zielinski']],
  ])('is followed through redirects, and no other person counts as away: %s', async (line, names) => {
    const moved = await serve(answer(event('DTSTART;VALUE=DATE:20261120', line)));
    await startWithCalendar(await serve(answer('', 301, { location: moved })));
    await relay.remind();
    expect(relay.reminded()).toEqual(names);
  });
});

describe('"Away until…" in a reminder', () => {
  async function sayAway(until: string): Promise<Record<string, string>> {
    const [reminder = expect.fail('Mira got no reminder')] = relay.reminders().get('Mira Novak') ?? [];
    await press(relay, reminder, 'Away until…', { userId: MIRA });
    const view = relay.slack.views.at(-1) ?? expect.fail('no form is open');
    return submit(relay, view, { until });
  }
  const nextDays = async (days: number) => {
    relay.clock.now += days * DAY;
    const before = relay.slack.messages.length;
    await relay.remind();
    return relay.slack.messages.slice(before).filter(({ userId }) => userId === MIRA).length;
  };

  it('prevents the reminders through that day, and the summary says so', async () => {
    relay = await startFriday(timesheets({ summary: SUMMARY }));
    await relay.remind();
    expect(await sayAway('2026-11-24')).toEqual({});
    expect(relay.told().at(-1)).toContain('You get no reminders until the end of Tuesday 24 November.');
    expect(await nextDays(3)).toBe(0);
    expect(await relay.outcomes('timesheet-reminder')).toContain('nothing to do: away until 2026-11-24');
    expect(await nextDays(1)).toBe(0);
    expect(await nextDays(1)).toBe(1);
    relay.clock.now = MONDAY_AFTER + 7 * DAY;
    await relay.remind();
    const said = relay.slack.messages.filter(({ channel }) => channel === SUMMARY.channel).at(-1);
    expect(said && mrkdwnOf(said)).toMatch(/Mira Novak.*away on 2026-11-23 and 2026-11-24/);
  });

  it('is saved by docs/guides/away.json, too', async () => {
    relay = await startFriday();
    const payload = JSON.parse(readFileSync('docs/guides/away.json', 'utf8'));
    expect(await interact(relay, payload)).toMatchObject({ status: 200, body: '' });
    await relay.remind();
    expect(relay.reminded()).toEqual(['Mira Novak', 'Tomasz Zielinski']);
  });

  it('can be undone', async () => {
    relay = await startFriday();
    await relay.remind();
    await sayAway('2026-12-24');
    await press(relay, relay.lastMessage(), 'Undo', { userId: MIRA });
    expect(relay.told().at(-1)).toContain('You get reminders again.');
    expect(await nextDays(3)).toBe(1);
  });

  it.each(['2026-11-17', '2027-12-24'])('accepts no past or distant day: %s', async (until) => {
    relay = await startFriday();
    await relay.remind();
    expect(await sayAway(until)).toEqual({ until: 'Choose today or a day within the next year.' });
  });
});

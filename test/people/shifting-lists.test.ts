import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';
import { workWith } from './changed-config.ts';

/** After each page, rows are added at a place of the list, or removed for a negative number. */
const shifts = fc.array(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), by: fc.integer({ min: -3, max: 3 }) }),
  { minLength: 3, maxLength: 3 },
);

/** `steps.list` reads every list. */
it('a person is never found twice in a list that shifts between its pages', async () => {
  const property = fc.asyncProperty(shifts, async (shifts) => {
    const relay = await startRelay();
    const { users } = relay.sandbox.data;
    let count = 0;
    const stranger = () => ({ user_id: `s-${++count}`, name: 'Somebody', email: `s-${count}@example.com` });
    const isMira = ({ name }: (typeof users)[number]) => name === 'Mira Novak';
    users.unshift(...Array.from({ length: 98 }, stranger));
    await command(relay, 'log 1h “Release checkout 2.4”');
    const left = [...shifts];
    const fetchAndShift: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const { at, by } = (String(input).endsWith('/users/list') && left.shift()) || { at: 0, by: 0 };
      const place = Math.floor(at * users.length);
      if (by > 0) users.splice(place, 0, ...Array.from({ length: by }, stranger));
      else users.splice(place, -by, ...users.slice(place, place - by).filter(isMira));
      return response;
    };
    await workWith(relay, {}, { fetch: fetchAndShift });
    const isComing = shifts.every(({ by }) => by >= 0);
    expect(relay.told().join()).toMatch(isComing ? /Logged 1h on / : /Logged 1h on |No user of the service/);
    for (const { user_id } of relay.timelogs()) expect(user_id).toBe(users.find(isMira)?.user_id);
  });
  await fc.assert(property, { numRuns: 12, examples: [[Array(3).fill({ at: 0, by: 1 })]] });
}, 60_000);

import { afterAll, beforeAll, expect, it } from 'vitest';
import { shortName } from '../../lib/engine/record/job.ts';
import { inBrowser, openConsole } from './console-page.ts';
import { type Seeded, type ShownRelay, seed, startShownRelay } from './shown-relay.ts';

inBrowser("a person's view of the console", () => {
  let shown: ShownRelay;
  let jobs: Seeded;
  beforeAll(async () => {
    shown = await startShownRelay();
    jobs = await seed(shown);
  });
  afterAll(() => shown?.close());

  async function open(screen: string) {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const opened = await openConsole(shown.url, { time: shown.relay.clock.now, permissions });
    await opened.go(screen);
    const focused = (expression: string) => opened.page.evaluate(`document.activeElement.${expression}`);
    return { ...opened, focused };
  }

  it('the list shows the short id; a click copies the whole id, and a double click selects the shown part', async () => {
    const { page, go } = await open('jobs');
    const name = shortName(jobs.settled);
    const row = page.getByRole('row').filter({ has: page.locator(`[data-item="${jobs.settled}"]`) });
    await row.getByRole('button', { name }).click();
    await page.getByText(`Copied: ${jobs.settled}`).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(jobs.settled);
    // The short id in an address becomes the whole one.
    await go(`jobs/${name}`);
    await page.waitForURL(`**/#/jobs/${jobs.settled}`);
    await page.getByRole('button', { name }).dblclick();
    expect(await page.evaluate('String(getSelection())')).toBe(name);
  });

  it('the id of a defect is a link if the configuration has its address', async () => {
    const { page, go } = await open('links');
    const made = shown.relay.sandbox.data.defects.find(({ title }) => String(title).startsWith('Search finds'));
    const address = `https://pm.example.com/defects/${made?.defect_id}`;
    expect(await page.getByRole('link', { name: String(made?.defect_id) }).getAttribute('href')).toBe(address);
    await go(`jobs/${jobs.settled}`);
    const result = page.locator('.result a').first();
    expect(await result.getAttribute('href')).toBe(address);
    expect(await result.getAttribute('target')).toBe('_blank');
  });

  it('times are local, with the zone and the milliseconds in the title', async () => {
    const { page } = await open(`jobs/${jobs.unknown}`);
    const created = page.locator('.facts time').first();
    expect(await created.getAttribute('title')).toMatch(/11:00:00\.\d{3}.* \(Europe\/Berlin\)$/);
  });

  it('lanes and states explain themselves', async () => {
    const { page } = await open('now');
    await page.getByRole('region', { name: 'main' }).getByText('Last minute').click();
    const lanes = page.locator('.lanes').first().getByRole('rowheader');
    expect(await lanes.evaluateAll((all) => all.map(({ title }) => title))).toEqual([
      'A person’s command',
      'More commands of the same person within a minute',
      'Other events',
      'Existing issues',
    ]);
    const states = await page.locator('main .mark').evaluateAll((all) => all.map(({ title }) => title));
    expect(states.length).toBeGreaterThan(5);
    expect(states).not.toContain('');
  });

  it('the first key reaches the link that skips the navigation', async () => {
    const { page, focused } = await open('');
    await page.keyboard.press('Tab');
    expect(await focused('textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await focused('id')).toBe('main');
    // The console restores its own address.
    await expect.poll(() => new URL(page.url()).hash).toBe('#/');
  });

  it('a job is found, opened, and closed again', async () => {
    const { page, focused } = await open('now');
    await page.keyboard.press('2');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page.locator('[data-item]').first().waitFor();
    const items = await page.evaluate('[...document.querySelectorAll("[data-item]")].map((item) => item.dataset.item)');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('k');
    const [, second] = items as string[];
    expect(await focused('dataset.item')).toBe(second);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Where the time went' }).waitFor();
    expect(await focused('tagName')).toBe('H1');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    expect(await focused('dataset.item')).toBe(second);
  });

  it('a slash goes to the filter, Esc leaves it, and its text stays in the address of the list', async () => {
    const { page, focused } = await open('jobs');
    await page.keyboard.press('/');
    await page.keyboard.type('passkeys');
    await page.waitForURL(/text=passkeys$/);
    await page.getByText(/^3 jobs shown/).waitFor();
    await page.keyboard.press('Escape');
    expect(await focused('tagName')).toBe('BODY');
    await page.locator('[data-item]').first().click();
    await page.getByRole('heading', { name: 'Steps' }).waitFor();
    await page.locator('[data-back]').click();
    await page.getByText(/^3 jobs shown/).waitFor();
    expect(page.url()).toMatch(/#\/jobs\?text=passkeys$/);
  });

  it('a decision is made, and the focus returns to its button', async () => {
    const { page, changes, focused } = await open(`jobs/${jobs.unknown}`);
    const button = page.getByRole('button', { name: 'It exists…' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'It exists' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await focused('textContent')).toBe('It exists…');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await focused('tagName')).toBe('INPUT');
    await page.keyboard.type('b542cd7c');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText("no defect with the id 'b542cd7c'").waitFor();
    expect(changes).toEqual([{ do: 'done', createdId: 'b542cd7c' }]);
  });

  it('a question mark lists the keys', async () => {
    const { page } = await open('now');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

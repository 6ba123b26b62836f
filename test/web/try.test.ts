import { expect, it, onTestFinished } from 'vitest';
import type { TryFacts } from '../../console/contract.ts';
import type { TryAction } from '../../console/requests.ts';
import { expectNoOverflow, inBrowser, NARROW, openConsole } from './console-page.ts';
import { startShownRelay } from './shown-relay.ts';

inBrowser('the screen Try', () => {
  async function open() {
    const shown = await startShownRelay();
    onTestFinished(() => shown.close());
    const { relay, console: server } = shown;
    relay.clock.now = Date.now();
    const { page, go } = await openConsole(shown.url, { time: 'real' });
    await go('try');
    const messages = page.getByRole('region', { name: 'Messages in Slack' });
    return {
      ...{ relay, page, go, messages, newest: messages.getByRole('listitem').first() },
      facts: () => server.get<TryFacts>('/api/try'),
      command: async (text: string) => {
        await page.getByLabel('Slack command').fill(text);
        await page.getByRole('button', { name: 'Send the command' }).click();
      },
      act: (action: TryAction) => server.post('/api/try', action),
    };
  }

  it('an answer is shown as in Slack, with its emoji, and its button runs the command', async () => {
    const { page, relay, newest, messages, command } = await open();
    await command('/pm dnoe 101');
    await newest.getByText('⚠️ There is no command').waitFor();
    await newest.getByRole('button', { name: 'Run /pm done 101' }).click();
    await page.getByText('The relay is working on it').waitFor();
    await relay.workToTheEnd();
    await page.reload();
    await messages.getByText('✅').first().waitFor();
    for (const text of ['/pm help', '/pm status']) await command(text);
    await messages.getByText('Your last requests', { exact: true }).waitFor();
    expect(await messages.innerText()).not.toMatch(/:[a-z_]+:|[*`]/);
  });

  it('Link your account answers with a link that opens the page, and the answers fit a phone', async () => {
    const { page, messages, command } = await open();
    await command('/pm help');
    await command('/pm link');
    await messages.getByRole('button', { name: 'Link your account' }).click();
    const link = messages.getByRole('link', { name: 'Open in the browser' });
    expect(await link.getAttribute('href')).toContain('/start?ticket=');
    await page.setViewportSize(NARROW);
    await expectNoOverflow(page);
  });

  it('a toast leads to its job, and an edited issue has another title', async () => {
    const { page, relay, go } = await open();
    await page.getByRole('button', { name: 'Send the event' }).click();
    await page.getByRole('link', { name: 'Open the job' }).waitFor();
    await relay.workToTheEnd();
    await page.getByRole('link', { name: 'Open the job' }).click();
    await page.getByRole('heading', { name: 'Spelling error in the README file' }).waitFor();
    await go('try');
    // GitHub's times are whole seconds.
    await page.waitForTimeout(1_100);
    await page.getByLabel('GitHub event').selectOption('issue edited');
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Send the event' }).click();
    await sent;
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.at(-1)?.title).toMatch(/^Spelling error in the README file \(edited at .+\)$/);
  });

  it('a payload that is not JSON stays in its box, and is not sent again', async () => {
    const { page } = await open();
    await page.getByText('Payload', { exact: true }).click();
    const payload = page.getByLabel('Payload as JSON');
    await payload.fill('{ bad');
    await page.getByRole('button', { name: 'Send the event' }).click();
    await page.getByText('The payload is not JSON: ').waitFor();
    expect(await payload.inputValue()).toBe('{ bad');
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  it('active faults say in words what will happen, and are removed one by one', async () => {
    const { page, act, facts } = await open();
    for (const { fault } of (await facts()).faultKinds.slice(0, 3)) await act({ do: 'set fault', fault });
    await page.reload();
    const broken = page.getByRole('list', { name: 'What is broken now' }).getByRole('listitem');
    await broken.nth(2).waitFor();
    const before = (await facts()).faults.map(({ title }) => expect.stringContaining(title));
    expect(await broken.allInnerTexts()).toEqual(before);
    await broken.nth(1).getByRole('button', { name: 'Repair' }).click();
    await page.getByText('Repaired.').waitFor();
    await broken.nth(2).waitFor({ state: 'detached' });
    expect(await broken.allInnerTexts()).toEqual([before[0], before[2]]);
  });
});

import { expect, it, onTestFinished } from 'vitest';
import type { ConsoleOptions } from '../../console/server.ts';
import { expectAccessible, expectNoOverflow, inBrowser, NARROW, openConsole } from './console-page.ts';
import { seed, seedHostile, startShownRelay } from './shown-relay.ts';

inBrowser("an operator's actions", () => {
  async function open(screen: string, options: Partial<ConsoleOptions> = {}) {
    const shown = await startShownRelay(options);
    onTestFinished(() => shown.close());
    const jobs = await seed(shown);
    const { relay, tell, url } = shown;
    const opened = await openConsole(url, { time: relay.clock.now });
    await opened.go(screen);
    return {
      ...opened,
      shown,
      relay,
      jobs,
      /** Lets the relay work, and tells the pages about the changed jobs. */
      work: async (...changed: string[]) => {
        await relay.workToTheEnd();
        tell(...changed);
      },
      defectOf: (title: string) => String(relay.sandbox.data.defects.find((one) => one.title === title)?.defect_id),
    };
  }

  it('an unknown outcome is decided with what is known about it, and with what the service shows', async () => {
    const { page, work, jobs, relay, complaints } = await open('now');
    await page
      .getByRole('link', { name: /^Parked/ })
      .first()
      .click();
    const group = page.locator('.group').filter({ hasText: 'Parked: outcome unknown' });
    await group.getByText('Answer lost').first().waitFor();
    await group.getByText('The same request again').first().waitFor();
    await group.getByText(', and 7 more, the last at').waitFor();
    for (const known of ['If it was created, it contains', 'It may exist:']) await group.getByText(known).waitFor();
    const marker = await group.locator('.marker').innerText();
    const made = () => relay.sandbox.data.defects.filter(({ description }) => String(description).includes(marker));
    const id = String(made()[0]?.defect_id);
    expect(await group.locator('.consequences').innerText()).toContain('creates nothing');

    await group.getByRole('button', { name: 'It exists…' }).click();
    const question = page.getByRole('dialog');
    // The service has no defect with this id.
    await question.getByLabel('Id of the defect').fill('6f1c2d7e-0000-4000-8000-000000000000');
    await question.getByRole('button', { name: 'Continue with this id' }).click();
    await question.getByRole('alert').waitFor();
    await question.getByLabel('Id of the defect').fill(id);
    await question.getByRole('button', { name: 'Continue with this id' }).click();
    await question.waitFor({ state: 'detached' });
    await work(jobs.unknown);
    await group.waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('link', { name: /opened: Checkout charges twice/ }).click();
    await page.locator('.decisions').filter({ hasText: 'resolved with an id' }).getByText(id).waitFor();
    await page.locator('.outcome').getByText('Succeeded', { exact: true }).waitFor();
    expect(made()).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  it('each question of an automation is shown and answered on its own', async () => {
    const { page, go, shown, work } = await open('now');
    await seedHostile(shown);
    await go('parked');
    const asked = /^javascript:/;
    const group = page.getByRole('region', { name: asked });
    await group.waitFor();
    expect(await page.getByRole('button', { name: 'Answer…' }).count()).toBe(4);
    await group.getByRole('button', { name: 'Answer…' }).click();
    await page.getByRole('dialog').getByLabel(asked).fill('yes');
    await page.getByRole('button', { name: 'Continue with this answer' }).click();
    await page.getByText('Queued: the job continues with the answer.').waitFor();
    await work();
    await group.waitFor({ state: 'detached' });
  });

  it('parked jobs are discarded with a reason, which stays in their history', async () => {
    const { page, go, work } = await open('parked');
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Discard (2)…' }).click();
    const question = page.getByRole('dialog', { name: 'Discard 2 jobs?' });
    await question.getByLabel('Reason').fill('they were only tests');
    await question.getByRole('button', { name: 'Discard 2 jobs' }).click();
    await page.getByText('2 jobs changed.').waitFor();
    await work();
    await go('jobs?text=camera');
    await page.getByText('Discarded').first().waitFor();
    await page.locator('[data-item]').first().click();
    await page.getByText('they were only tests').first().waitFor();
  });

  it('a stopped connection shows who waits for it, and is resumed there', async () => {
    const { page, changes } = await open('now');
    const main = page.getByRole('region', { name: 'main' });
    await main.getByText('4 jobs wait').click();
    await main
      .getByRole('link', { name: /^acme\/web#6/ })
      .first()
      .waitFor();
    await main.getByRole('button', { name: 'Resume…' }).click();
    expect(changes).toEqual([]);
    const question = page.getByRole('dialog', { name: 'Resume main?' });
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('it stops them again').waitFor();
    expect(changes).toEqual([{ do: 'resume', connection: 'main' }]);
    expect(await page.getByRole('region', { name: 'agency' }).getByRole('button').count()).toBe(0);
  });

  it('a schedule is run for a given time, and its result and its jobs are shown', async () => {
    const { page, changes, relay } = await open('now');
    const schedules = page.getByRole('region', { name: 'Schedules' });
    await schedules.getByRole('row').filter({ hasText: 'due-schedules' }).getByRole('button').click();
    await page.getByLabel('As of').fill('2026-11-20T16:30');
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
    await schedules.getByText('It made 1 job.').waitFor();
    const at = Date.parse('2026-11-20T16:30+01:00');
    expect(changes).toEqual([{ do: 'run schedule', schedule: 'due-schedules', at }]);
    await page.getByRole('link', { name: 'Open the job' }).click();
    const [job] = (await relay.jobs()).filter(({ automation }) => automation === 'team-timesheets');
    await page.waitForURL(`**/#/jobs/${job?.id}`);
  });

  it('the link of an issue is set, cleared and moved, and a refusal leaves the question open', async () => {
    const { page, changes, requests, defectOf } = await open('links');
    const issue = 'acme/web#57';
    const change = page.getByRole('row').filter({ hasText: issue }).getByRole('button', { name: 'Change…' });
    const question = page.getByRole('dialog', { name: `Change the link of ${issue}` });
    const confirm = question.getByRole('button', { name: 'Change', exact: true });
    const defectId = defectOf('Checkout charges twice after a timeout');
    await change.click();
    await expectAccessible(page);
    await question.getByLabel('Id of the defect').fill('wrong');
    await confirm.click();
    await question
      .getByRole('alert')
      .getByText("The project has no defect with the id 'wrong'. Nothing was changed.")
      .waitFor();
    await question.getByLabel('Id of the defect').fill(defectId);
    await question.getByLabel('Share it with another issue or job, if one has it').check();
    await confirm.click();
    await page.getByRole('link', { name: defectId }).waitFor();
    await change.click();
    await question.getByLabel('Remove the link').check();
    await confirm.click();
    await question.waitFor({ state: 'detached' });
    // The list is read again after each change.
    const lists = () => requests.filter((request) => request === 'GET /api/links').length;
    await expect.poll(lists).toBeGreaterThanOrEqual(3);
    expect(changes.slice(1)).toEqual([
      { do: 'set link', issue, defectId, steal: true },
      { do: 'clear link', issue },
    ]);
  });

  it('an issue that is not in the list gets a link, too', async () => {
    const { page, changes, defectOf } = await open('links');
    await page.getByRole('button', { name: 'Change a link…' }).click();
    const question = page.getByRole('dialog', { name: 'Change the link of an issue' });
    const defectId = defectOf('Search finds nothing behind an umlaut');
    await question.getByLabel('Issue').first().fill('acme/web#70');
    await question.getByLabel('Id of the defect').fill(defectId);
    await question.getByRole('button', { name: 'Change a link' }).click();
    await question.getByRole('alert').getByText('the relay has seen no event of acme/web#70').waitFor();
    expect(changes).toEqual([{ do: 'set link', issue: 'acme/web#70', defectId, steal: false }]);
  });

  it('ignored events are read when the operator opens them, with their reasons', async () => {
    const { page, requests } = await open('jobs');
    expect(requests).not.toContain('GET /api/ignored');
    await page.getByText('Ignored events, and why').click();
    await page.getByText('a new issue without the label bug').waitFor();
  });

  it('the dialogs fit a phone', async () => {
    const { page, go } = await open('links');
    await page.setViewportSize(NARROW);
    await page.getByRole('button', { name: 'Change…' }).first().click();
    await expectNoOverflow(page);
    await page.keyboard.press('Escape');
    await go('now');
    await page.getByRole('button', { name: 'Resume…' }).first().click();
    await expectNoOverflow(page);
  });

  it('a read-only console has no way to change anything, and says why', async () => {
    const { page, go, changes, jobs } = await open('now', { operate: false });
    const actions = [
      ...['Replay…', 'Discard…', 'It exists…', 'Create it again…', 'Search once more…', 'Resume…', 'Run…', 'Change…'],
    ];
    for (const screen of [`jobs/${jobs.unknown}`, 'parked', 'now', 'links', 'try']) {
      await go(screen);
      await page.locator('.card').first().waitFor();
      if (!['now', 'links'].includes(screen)) await page.getByText('This console is read-only.').first().waitFor();
      for (const name of actions) expect(await page.getByRole('button', { name }).count()).toBe(0);
      for (const name of ['Send the event', 'Send the command', 'Break it', 'Log time', 'Log']) {
        for (const button of await page.getByRole('button', { name, exact: true }).all()) {
          expect(await button.isDisabled()).toBe(true);
        }
      }
    }
    expect(changes).toEqual([]);
  });

  it('every screen shows that the stage is stopped, and the first one shows how to start it', async () => {
    const words = 'The stage prod is stopped. To start it: npx partner-relay --stage prod start';
    const { page, go } = await open('now', { name: 'prod', stopped: async () => words });
    await page.getByText(words).waitFor();
    await go('jobs');
    await page.getByRole('banner').getByText('prod (stopped)').waitFor();
  });
});

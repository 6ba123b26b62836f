import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GRANTS_KEY, linkAccount, sandboxCommands } from '../as-person/linked.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, lastMessage, lastView, press, readable, submit, told } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';

let relay: TestRelay;
beforeAll(async () => {
  const connection = { mcp: { link: 'offered', commands: sandboxCommands() } as const };
  relay = await startRelay({ config: exampleConfig({}, { connection }), sandbox: { mcp: { enabled: true } } });
  relay.stack.secrets.put(`${relay.stack.secretPrefix}grants`, GRANTS_KEY);
  await linkAccount(relay);
});
afterAll(() => relay.close());

/** Opens the form of the only tool that a word finds. */
async function openForm(word: string) {
  relay.clock.now += 120_000;
  await ask(relay, `do ${word}`);
  await press(relay, lastMessage(relay), 'Fill in');
  expect(readable(lastView(relay).view.blocks)).toBe('The form is being made…');
  await relay.work();
  return lastView(relay);
}

const inputs = (view: Awaited<ReturnType<typeof openForm>>) =>
  view.view.blocks.flatMap((block) => ('element' in block ? [[block.block_id, block.element.type]] : []));

describe('/pm do', () => {
  it('lists the tools that the person may call, each with a button', async () => {
    relay.clock.now += 120_000;
    const { inTheEnd } = await ask(relay, 'do');
    expect(inTheEnd).toMatch(/^Log time$/m);
    expect(inTheEnd).toMatch(/^:warning: Delete a checklist item$/m);
    expect(inTheEnd).not.toContain('…and 0 more');
  });

  it('makes a form of the schema of a tool, and tells the outcome', async () => {
    const view = await openForm('"logs your own time"');
    expect(inputs(view)).toEqual([
      ['argument:task', 'plain_text_input'],
      ['argument:hours', 'number_input'],
      ['argument:day', 'datepicker'],
      ['argument:comment', 'plain_text_input'],
    ]);
    const filled = { 'argument:task': CHECKOUT, 'argument:hours': '1.5', 'argument:day': '2026-11-18' };
    expect(await submit(relay, view, filled)).toEqual({});
    await relay.work();
    expect(told(relay).at(-1)).toMatch(/^:white_check_mark: The tool log_time says: \{/);
    expect(relay.sandbox.data.timelogs.at(-1)).toMatchObject({ hours: 1.5, task_id: CHECKOUT, date: '2026-11-18' });
  });

  it('offers the choices of an enumeration, and names tools that have no form', async () => {
    const defect = await openForm('"creates a defect"');
    expect(inputs(defect)).toContainEqual(['argument:severity', 'static_select']);
    const { inTheEnd } = await ask(relay, 'do "marks items"');
    expect(inTheEnd).toContain('Use it in the service');
  });

  it('asks first where a tool is marked as destructive', async () => {
    const view = await openForm('"deletes an item"');
    expect(inputs(view)).toEqual([
      ['argument:item', 'number_input'],
      ['confirm', 'static_select'],
    ]);
    const has = () => relay.sandbox.data.checklistItems.some(({ item_id }) => item_id === 103);
    expect(has()).toBe(true);
    await submit(relay, view, { 'argument:item': '103' });
    await relay.work();
    expect(told(relay).at(-1)).toContain('that was not confirmed');
    expect(has()).toBe(true);
    await submit(relay, await openForm('"deletes an item"'), { 'argument:item': '103', confirm: 'yes' });
    await relay.work();
    expect(has()).toBe(false);
  });

  it('says what the schema refuses at the field, and sends nothing', async () => {
    const before = relay.sandbox.data.timelogs.length;
    const jobs = (await relay.jobs()).length;
    const view = await openForm('"logs your own time"');
    expect(await submit(relay, view, { 'argument:task': CHECKOUT, 'argument:hours': '1h' })).toEqual({
      'argument:hours': 'this must be a number',
    });
    await relay.work();
    // The list of the tools, and the form.
    expect(await relay.jobs()).toHaveLength(jobs + 2);
    expect(relay.sandbox.data.timelogs).toHaveLength(before);
    // The person corrects it.
    expect(await submit(relay, view, { 'argument:task': CHECKOUT, 'argument:hours': '4' })).toEqual({});
  });
});

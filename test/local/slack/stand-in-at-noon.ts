import { expect, onTestFinished } from 'vitest';
import { type SlackThatFails, startSlackThatFails } from '../../slack-that-fails.ts';

export const botToken = 'xoxb-stand-in';
export const noon = Date.UTC(2026, 10, 20, 12);
export const mira = 'U0MIRA001';
export const general = 'C0GENERAL';
const controlKey = 'LOCALNOON';
/** What the command line sends. */
export const commandLine = { authorization: `Bearer ${controlKey}` };
export const bearer = { authorization: `Bearer ${botToken}` };

export async function startAtNoon(): Promise<{ slack: SlackThatFails; time: { now: number } }> {
  const time = { now: noon };
  const slack = await startSlackThatFails({ clock: () => time.now, botToken, controlKey });
  onTestFinished(() => slack.close());
  return { slack, time };
}

export type Fields = Record<string, unknown>;

/** As the relay calls: a form, with objects as JSON in it. */
export function form(fields: Fields): URLSearchParams {
  const texts = Object.entries(fields).map(
    ([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)] as const,
  );
  return new URLSearchParams(Object.fromEntries(texts));
}

export async function send(slack: SlackThatFails, method: string, request: RequestInit): Promise<Fields> {
  const response = await fetch(`${slack.url}/api/${method}`, { method: 'POST', ...request });
  expect(response.status).toBe(200);
  return (await response.json()) as Fields;
}

export function call(slack: SlackThatFails, method: string, fields: Fields = {}): Promise<Fields> {
  return send(slack, method, { headers: bearer, body: form(fields) });
}

export function post(slack: SlackThatFails, fields: Fields): Promise<Fields> {
  return call(slack, 'chat.postMessage', { channel: general, ...fields });
}

export function open(slack: SlackThatFails, view: unknown): Promise<Fields> {
  return call(slack, 'views.open', { trigger_id: slack.makeTriggerId(mira), view });
}

export async function respond(url: string, fields: unknown): Promise<{ status: number; body: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(fields) });
  return { status: response.status, body: await response.text() };
}

export const x = (length: number) => 'x'.repeat(length);
export const many = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index));
export const plainText = (text: string) => ({ type: 'plain_text' as const, text });
export const mrkdwn = (text: string) => ({ type: 'mrkdwn' as const, text });
export const section = (text = 'Hello', rest: Fields = {}) => ({ type: 'section', text: mrkdwn(text), ...rest });
export const actions = (...elements: unknown[]) => ({ type: 'actions', elements });
export const button = (rest: Fields = {}) => ({ type: 'button', text: plainText('Log time'), ...rest });
export const option = (text: string, rest: Fields = {}) => ({ text: plainText(text), value: text, ...rest });
export const menu = (rest: Fields = {}) => ({ type: 'static_select', options: [option('Web Shop')], ...rest });
export const textInput = (rest: Fields = {}) => ({ type: 'plain_text_input', ...rest });
export const input = (element: unknown = textInput(), rest: Fields = {}) => ({
  type: 'input',
  label: plainText('Title'),
  element,
  ...rest,
});
export const modal = (blocks: unknown, rest: Fields = {}) => ({
  type: 'modal',
  title: plainText('Create defect'),
  submit: plainText('Create'),
  blocks,
  ...rest,
});

import { beforeAll, describe, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { commentPayload, mergedPayload } from '../kill/github-payloads.ts';
import { githubSignature, startRelay, type TestRelay } from '../relay.ts';
import { commandForm, postToSlack } from '../slack-requests.ts';

type Fields = Record<string, unknown>;

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});

/** Fields that the relay stores in an item of the table. */
const STORED = new Set(['title', 'body', 'name', 'login', 'html_url', 'state']);
const BRACKETS = 3_000_000;
const deep = `${'['.repeat(BRACKETS)}${']'.repeat(BRACKETS)}`;

/** Every place in a payload, as a list of keys. */
function places(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  // There are many links, but the relay reads only the issue's own.
  const read = Object.entries(value).filter(([key]) => !/(?<!html)_url$/.test(key));
  return read.flatMap(([key, inner]) => places(inner, [...path, key]));
}

function put(value: unknown, [key, ...path]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const inner = put((value as Fields)[key], path, replacement);
  return Array.isArray(value) ? value.with(Number(key), inner) : { ...(value as Fields), [key]: inner };
}

function postToGithub(event: string, body: string): Promise<{ status: number }> {
  return relay.postRaw(body, {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': 'a',
    'x-hub-signature-256': githubSignature(body),
  });
}

const deliveries = [
  ['issues', issueEvent('opened')],
  ['issue_comment', commentPayload(1, '/done 101\n/log 1h 4711')],
  ['pull_request', mergedPayload(1, 'Completes checklist item 101')],
] as const;

describe('nonsense from GitHub', () => {
  it.each(deliveries)('never causes a 500, even with long values: %s', async (event, payload) => {
    for (const path of places(payload)) {
      for (const length of [5_000, 500_000]) {
        if (length > 5_000 && !STORED.has(path.at(-1) ?? '')) continue;
        const { status } = await relay.post(event, put(payload, path, 'x'.repeat(length)));
        expect(status, `${path.join('.')} of ${length}`).toBeLessThan(500);
      }
    }
  });

  it.each<[string, string, number]>([
    ['a bracket', '[', 400],
    ['a list', deep, 400],
    ['an object that does not end', '{"a":'.repeat(BRACKETS / 5), 400],
    ['a field that is not read', `{"action": "closed", "issue": ${deep}}`, 400],
    ['a title', JSON.stringify(issueEvent('opened', { title: 0 })).replace('"title":0', `"title":${deep}`), 400],
  ])('gets a 400, at any depth: %s', async (_, body, status) => {
    expect((await postToGithub('issues', body)).status).toBe(status);
  });
});

describe('nonsense from Slack', () => {
  it('never gets a 500, even with long values', async () => {
    for (const [name] of [...commandForm(relay, '')]) {
      for (const text of ['done 101', 'status']) {
        for (const length of [5_000, 500_000]) {
          const form = commandForm(relay, text);
          form.set(name, name === 'text' ? `${text} ${'x'.repeat(length)}` : 'x'.repeat(length));
          expect((await postToSlack(relay, form.toString())).status, `${name} ${length}`).toBeLessThan(500);
        }
      }
    }
  });

  it.each([
    ['a bracket', '['],
    ['a list', deep],
    ['a form', `{"type":"view_submission","user":{"id":"U1"},"view":{"id":"V1","state":{"values":${deep}}}}`],
  ])('gets a 400, at any depth: %s', async (_, payload) => {
    expect((await postToSlack(relay, `payload=${payload}`)).status).toBe(400);
  });
});

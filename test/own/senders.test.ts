import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SenderName, senders } from '../../cli/senders.ts';
import { readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { customOf } from '../../lib/triggers/custom-automation.ts';
import { signedByTool } from '../../local/examples/signed-request.ts';
import { runRelay } from '../cli/run-command.ts';
import { withPackage } from '../new-folder.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import senderExamples from './sender-examples.json' with { type: 'json' };

const names = Object.keys(senders) as SenderName[];
/** The time of all examples' signatures; epoch seconds. */
const SIGNED_AT = 1_614_265_330;
const LATER_S = 301;

interface Sent {
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** A request as a sender documents it, and its challenge with the expected answer. */
interface SenderExample extends Sent {
  secret: string;
  challenge?: Sent & { answer: string };
}

/** The signatures follow the senders' documentation, and were not made with the relay's code. */
const examples: Readonly<Record<SenderName, SenderExample>> = senderExamples;

/** Each sender has three webhooks of the same file: with its secret, with another one, and without one. */
type Kind = 'known' | 'other' | 'new';

const project = withPackage(mkdtempSync(join(tmpdir(), 'senders-')));
let relay: TestRelay;
beforeAll(async () => {
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  const given = { readConfig: async () => exampleConfig(), customFolder: join(project, 'automations') };
  for (const name of names) await runRelay(given, 'new', 'automation', `known-${name}`, '--on', `webhook:${name}`);
  const { custom, faults } = await readCustomAutomations(exampleConfig(), given.customFolder);
  expect(faults).toEqual([]);
  const files = await Promise.all(
    names.map(async (name) => {
      const file = { on: await custom.on(`known-${name}`), run: await custom.run(`known-${name}`) };
      return { [`known-${name}`]: file, [`other-${name}`]: file, [`new-${name}`]: file };
    }),
  );
  relay = await startRelay({ own: Object.assign({}, ...files) });
  const secrets = names.flatMap((name) => [
    [`known-${name}`, examples[name].secret],
    [`other-${name}`, Buffer.from(`another secret of ${name}, which is long`).toString('base64')],
  ]);
  relay.stack.secrets.put(`${relay.stack.secretPrefix}hooks`, Object.fromEntries(secrets));
});
beforeEach(() => {
  relay.clock.now = SIGNED_AT * 1_000;
  relay.log.length = 0;
});
afterAll(async () => {
  rmSync(project, { recursive: true });
});

async function send(kind: Kind, name: SenderName, headers: Readonly<Record<string, string>>, body: string) {
  const url = new URL(`/hooks/${kind}-${name}`, relay.url);
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe.each(names)('%s', (name) => {
  const { hmac, token, challenge, headers: shown = [] } = senders[name];
  const example = examples[name];
  const statusOf = async (kind: Kind, headers = example.headers, body = example.body) =>
    (await send(kind, name, headers, body)).status;

  it('is accepted with its secret, and refused with another one and without one', async () => {
    expect(await statusOf('known')).toBe(200);
    expect(await statusOf('other')).toBe(401);
    expect(await statusOf('new')).toBe(503);
    const logged = JSON.stringify(relay.log);
    for (const value of [example.secret, ...proofs()]) expect(logged).not.toContain(value);
  });

  it('is accepted as `send hook` and tests sign it', async () => {
    const { verify } =
      customOf(relay.runtime.custom, 'webhook').find((one) => one.name === `known-${name}`) ?? expect.fail();
    const { headers, body } = signedByTool(verify, '{}', example.secret, { now: relay.clock.now });
    expect(await statusOf('known', headers, body)).toBe(200);
  });

  it(`with another body is ${token ? 'accepted, because nothing is signed' : 'refused'}`, async () => {
    expect(await statusOf('known', example.headers, `${example.body} `)).toBe(token ? 200 : 401);
  });

  it('is refused when late, if the time is signed', async () => {
    const isSigned = token === undefined && (hmac === undefined || hmac.time !== undefined);
    for (const seconds of [LATER_S, -LATER_S]) {
      relay.clock.now = (SIGNED_AT + seconds) * 1_000;
      expect(await statusOf('known')).toBe(isSigned ? 401 : 200);
    }
  });

  it('is refused if a part of its proof is missing', async () => {
    for (const [header, value] of Object.entries(example.headers).filter(([header]) => !shown.includes(header))) {
      const { [header]: _, ...others } = example.headers;
      expect(await statusOf('known', others)).toBe(401);
      expect(await statusOf('known', { ...others, [header]: '' })).toBe(401);
      for (const part of hmac?.signs?.includes('{part:') ? value.split(/[,;]/) : []) {
        if (part.startsWith('v0=') && name === 'stripe') continue;
        const without = value.split(/[,;]/).filter((one) => one !== part);
        expect(await statusOf('known', { ...others, [header]: without.join() })).toBe(401);
        const empty = `${part.split('=')[0]}=`;
        expect(await statusOf('known', { ...others, [header]: [...without, empty].join() })).toBe(401);
      }
    }
  });

  if (challenge)
    it('gets an answer to its challenge before there is a secret, and then only if it proves that it knows the secret', async () => {
      const asked = example.challenge ?? expect.fail('there is no example of it');
      const answers = async (kind: Kind) => {
        const { status, headers, text } = await send(kind, name, asked.headers, asked.body);
        return 'header' in challenge ? [status, headers.get(challenge.header), text] : [status, text];
      };
      const answer = 'header' in challenge ? [200, asked.headers[challenge.header], ''] : [200, asked.answer];
      const needsSecret = asked.answer.includes('encryptedToken');
      if (needsSecret) expect((await send('new', name, asked.headers, asked.body)).status).toBe(503);
      else expect(await answers('new')).toEqual(answer);
      const isSigned = !('header' in challenge);
      if (isSigned) expect(await answers('known')).toEqual(answer);
      for (const kind of isSigned ? (['other'] as const) : (['known', 'other'] as const)) {
        const refused = await send(kind, name, asked.headers, asked.body);
        expect([refused.status, refused.headers.get('x-hook-secret')]).toEqual([401, null]);
        expect(refused.text).not.toContain('encryptedToken');
      }
      expect(await relay.jobs()).toEqual([]);
    });

  function proofs(): string[] {
    return Object.values(example.headers).filter((value) => /[0-9a-f]{32}|[\w+/]{40}/.test(value));
  }
});

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import * as z from 'zod/mini';
import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { meantName } from '../lib/faults/fault.ts';
import { hooksSecret, secretsOf } from '../lib/state/secrets/hook-secrets.ts';
import { parsedJson } from '../lib/text.ts';
import { customOf } from '../lib/triggers/custom-automation.ts';
import { signedByTool } from '../local/examples/signed-request.ts';
import { answerInWords } from './answer-in-words.ts';
import { printText } from './print.ts';
import { reach } from './reach.ts';
import type { OpenTarget } from './target.ts';
import { addWaitOptions, printOutcome, type WaitOptions } from './wait-for-jobs.ts';

const accepted = z.object({ jobs: z.array(z.string()) });

/** Adds a header to the others. @throws {Error} if the line is not a header */
function withHeader(line: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([\w-]+): *(.+)$/.exec(line) ?? [];
  if (name === undefined || value === undefined)
    throw new Error(`--header: '${line}' is not a header; write it as 'x-event-key: repo:push'`);
  return { ...before, [name]: value };
}

/** `send hook`: sends what another tool would send to a team's webhook, signed as its file verifies it. */
export function addSendHookCommand(send: Command, open: OpenTarget): void {
  const hook = send
    .command('hook <automation> <file.json>')
    .description('send a file to a webhook of an automation of yours, signed with its secret')
    .option('--header <line>', "a header, as 'x-event-key: repo:push'; repeat it for more", withHeader)
    .option('--json', 'print status and answer as JSON, and with --wait the jobs')
    .action(async (name: string, file: string, _: unknown, command: Command) => {
      // Options before `hook` belong to `send`.
      const options = command.optsWithGlobals<WaitOptions & { json?: boolean; header?: Record<string, string> }>();
      const { custom } = await readCustomAutomations(await loadConfig());
      const hooks = customOf(custom, 'webhook');
      const found = hooks.find((one) => one.name === name);
      if (!found) {
        const names = hooks.map((one) => one.name);
        throw new Error(`automations/${name}.ts has no webhook; ${meantName(name, names)}`);
      }
      const { stores, hooksUrl, stage } = await open();
      if (hooksUrl === undefined) throw new Error('this stage has no webhook of yours; deploy it with the file');
      const [secret] = secretsOf(await stores.secrets.current('hooks', hooksSecret), found.name);
      if (secret === undefined) {
        const ofStage = stage === undefined ? '' : `--stage ${stage} `;
        throw new Error(
          `the webhook ${name} has no secret yet: enter it with npx partner-relay ${ofStage}secrets set hooks/${name}`,
        );
      }
      const { headers, body } = signedByTool(found.verify, readFileSync(file, 'utf8'), secret, {
        headers: options.header,
      });
      const url = `${hooksUrl.replace(/\/$/, '')}/${name}`;
      const response = await reach(url, { method: 'POST', headers, body });
      const answer = await response.text();
      const sent = { status: response.status, answer: parsedJson(answer) };
      if (!options.json) printText(answerInWords(sent.status, sent.answer, answer));
      if (!response.ok) process.exitCode = 1;
      await printOutcome(sent, accepted.safeParse(sent.answer).data?.jobs ?? [], stores, options);
    });
  addWaitOptions(hook);
}

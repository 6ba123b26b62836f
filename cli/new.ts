import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CUSTOM_FOLDER, eventFault, nameFault, readCustomAutomations } from '../lib/automations/custom/folder.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { unknownName } from '../lib/faults/fault.ts';
import { takenEvents } from '../lib/platforms/github/delivery.ts';
import { timesOf } from '../lib/triggers/cron.ts';
import none from '../lib/triggers/custom-automation.ts';
import { exampleEvent, subjectOf } from '../local/examples/github-event.ts';
import { triggerInWords } from '../local/own-in-words.ts';
import { withDocsHere } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { fieldsFor, type Sender, senders } from './senders.ts';

/** The first version of a file, and of its test. */
interface Beginning {
  /** The lines between the imports and `run`. */
  on: string;
  imports: string;
  usesFields: boolean;
  /** The parameter of `run`, and the text that says what the job is about. */
  input: string;
  about: string;
  /** The event of the test, as code; undefined without an example of the event. */
  test: string | undefined;
  next: string[];
}

/** `new automation`: writes a first file of automations/, and its test. */
export const define: Define = (command, { readConfig, customFolder = CUSTOM_FOLDER }) =>
  command
    .command('automation <name>')
    .description('write automations/<name>.ts and its test, automations/<name>.test.ts, to begin with')
    .requiredOption(
      '--on <trigger>',
      'an event of GitHub such as release.published, or command, schedule, webhook or webhook:<sender>',
    )
    .addHelpText(
      'after',
      `
  npx partner-relay new automation release-note --on release.published
  npx partner-relay new automation block --on command
  npx partner-relay new automation payments --on webhook:stripe

The senders are ${Object.keys(senders).join(', ')}. For any other, write webhook.`,
    )
    .action(async (name: string, { on }: { on: string }) => {
      // The typed text becomes code that runs when the file is read, so check it first.
      const fault = nameFault(name) ?? triggerFault(on) ?? (on === 'command' ? verbFault(name) : undefined);
      if (fault !== undefined) throw new Error(`automations/${name}.ts: ${fault}`);
      const config = await readConfig();
      const begun = beginning(name, on, config);
      const files = [[`${name}.ts`, fileText(name, begun)]];
      if (begun.test !== undefined) files.push([`${name}.test.ts`, testText(name, begun.test)]);
      const paths = files.map(([file = '']) => join(customFolder, file));
      const taken = files.find((_, index) => existsSync(paths[index] ?? ''));
      if (taken) throw new Error(`automations/${taken[0]} already exists`);
      mkdirSync(customFolder, { recursive: true });
      files.forEach(([, text = ''], index) => {
        writeFileSync(paths[index] ?? '', text, { flag: 'wx' });
      });
      // Reading the folder finds other faults, such as another file with the same command.
      const { custom, faults } = await readCustomAutomations(config, customFolder);
      const made = custom.list.find((one) => one.name === name);
      if (!made) {
        for (const path of paths) rmSync(path);
        throw new Error(faults.find((fault) => fault.startsWith(`automations/${name}.ts:`)) ?? 'it cannot be read');
      }
      console.log(`Wrote ${files.map(([file]) => `automations/${file}`).join(' and ')}. It runs ${triggerInWords(made, config.slack?.command)}.

Next:
${[
  ...begun.next,
  ...(begun.test === undefined ? [] : [`run its test: npx partner-relay test automations/${name}.test.ts`]),
]
  .map((step) => `  - ${step}`)
  .join('\n')}`);
    });

/** People type the name of the file as the command. */
const verbFault = (name: string) =>
  /\d/.test(name)
    ? 'the name of a command may have only lowercase letters and hyphens; choose another name'
    : undefined;

function triggerFault(on: string): string | undefined {
  const [, sender] = /^webhook:(.*)$/.exec(on) ?? [];
  if (sender !== undefined)
    return senderOf(on) ? undefined : unknownName('there is no sender', sender, Object.keys(senders));
  return ['command', 'schedule', 'webhook'].includes(on) ? undefined : eventFault(on);
}

const senderOf = (on: string): Sender | undefined =>
  Object.entries(senders).find(([name]) => on === `webhook:${name}`)?.[1];

function beginning(name: string, on: string, config: RelayConfig): Beginning {
  const connections = Object.keys(config.connections);
  const connection = connections.length > 1 ? connections[0] : undefined;
  switch (on.split(':')[0]) {
    case 'command': {
      const example = `${name} hello`;
      return {
        imports: 'command',
        usesFields: false,
        on: `command('${name} <text…>', {
  does: 'says what it was told',
  example: '${example}',
})`,
        input: 'text',
        about: 'text',
        test: `{ command: '${example}' }`,
        next: [
          `try it while the relay runs: npx partner-relay send slack '${config.slack?.command ?? '/pm'} ${example}'`,
        ],
      };
    }
    case 'schedule': {
      const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
      const cron = '0 9 * * MON';
      const at = new Date(timesOf(cron, timeZone, Date.now(), Date.now() + 8 * 86_400_000)[0] ?? 0).toISOString();
      const of = connection === undefined ? '' : `, { connection: '${connection}' }`;
      return {
        imports: 'schedule',
        usesFields: false,
        on: `schedule('${cron}', '${timeZone}'${of})`,
        input: 'date',
        about: 'date',
        test: `{ schedule: '${name}', at: '${at}' }`,
        next: [`try it while the relay runs: npx partner-relay run ${name} --at ${at}`],
      };
    }
    case 'webhook':
      return hookBeginning(name, senderOf(on), connection);
    default:
      return githubBeginning(on);
  }
}

function hookBeginning(name: string, sender: Sender | undefined, connection: string | undefined): Beginning {
  const fields = [
    ...(sender ? fieldsFor(sender) : []),
    ...(connection === undefined ? [] : [`connection: '${connection}'`]),
  ];
  const by = sender?.hmac ? ['hmac'] : sender?.token ? ['token'] : [];
  return {
    imports: [...by, 'webhook'].join(', '),
    usesFields: true,
    on: `webhook({${fields.map((field) => `\n  ${field},`).join('')}
  body: z.object({ id: z.string(), title: z.string() }),
  input: { title: z.string() },
  job: ({ id, title }) => ({ happened: [id], input: { title } }),
})`,
    input: 'title',
    about: 'title',
    test: `{ hook: '${name}', body: { id: '1', title: 'hello' } }`,
    next: [
      sender
        ? `name in body the fields that ${sender.title} sends. Its page about webhooks and signatures: ${sender.docs}`
        : `say in verify how the sender signs; without it, the relay expects signatures as in Standard Webhooks (https://www.standardwebhooks.com)`,
      ...(sender?.note === undefined ? [] : [sender.note]),
      `enter its secret: npx partner-relay secrets set hooks/${name}`,
      `try it while the relay runs: npx partner-relay send hook ${name} <file.json>`,
    ],
  };
}

function githubBeginning(on: string): Beginning {
  const [event = '', action] = on.split('.', 2);
  const payload = exampleOf(event, action);
  const subject = payload && subjectOf(event, payload);
  const about = subject === undefined ? 'repository' : subject;
  const fieldsOfAbout = Object.keys(payload?.[about] ?? {});
  const version = fieldsOfAbout.includes('updated_at') ? `, String(${about}.updated_at)` : '';
  const isPush = payload !== undefined && 'after' in payload && 'ref' in payload;
  const identity = subject !== undefined ? `${about}.id${version}` : isPush ? 'repository.id, ref, after' : '';
  const fields = isPush ? 'repository, ref, after' : about;
  const sent = takenEvents(none).has(event)
    ? []
    : [
        `have GitHub send ${event} events: subscribe the App, or the webhook of the repository. For an App, npx partner-relay doctor checks this`,
      ];
  return {
    imports: 'github',
    usesFields: true,
    on: `github('${on}', {
  input: { about: z.string() },
  // What tells this event from any other, from the payload alone: an id, or an id and a version.
  job: ({ ${fields} }) => ({
    happened: [${identity}],
    input: { about: String(${about}.${fieldsOfAbout.includes('html_url') ? 'html_url' : 'id'}) },
  }),
})`,
    input: 'about',
    about: 'about',
    test:
      payload && identity !== ''
        ? `{ event: '${event}'${action === undefined ? '' : `, action: '${action}'`}${event === 'issues' ? ', labels: []' : ''} }`
        : undefined,
    next: [
      ...(identity === '' ? ['name in happened what tells one event from another: the payload has no single id'] : []),
      ...sent,
      payload
        ? `try it while the relay runs: npx partner-relay send ${on}`
        : `GitHub publishes no example of ${on}: save one from "Recent deliveries", and send it with --file`,
    ],
  };
}

function exampleOf(event: string, action: string | undefined): Record<string, unknown> | undefined {
  try {
    return exampleEvent({ event, action }).payload;
  } catch {
    return undefined;
  }
}

const fileText = (name: string, { imports, usesFields, on, input, about }: Beginning) => `${
  usesFields ? "import * as z from 'partner-relay/zod';\n" : ''
}import { ${[...imports.split(', '), 'type Run'].sort((a, b) => a.replace('type ', '').localeCompare(b.replace('type ', ''))).join(', ')} } from 'partner-relay';

export const on = ${on};

// Steps are call, list, create, say, comment and others: ${withDocsHere('docs/guides/your-own-automation.md')}
export const run: Run<typeof on> = async ({ ${input} }) => {
  return \`${name} saw \${${about}}\`;
};
`;

const testText = (name: string, event: string) => `import { defineTests } from 'partner-relay/test';

export default defineTests({
  '${name} calls nothing yet': {
    event: ${event},
    makes: {},
  },
});
`;

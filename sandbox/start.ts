import { parseArgs } from 'node:util';
import { defaultPeople } from './mcp/people.ts';
import { defaultKey, type SandboxOptions, startSandbox } from './sandbox.ts';

const usage = `Usage: npm run sandbox -- [options]
  --port N              default 4010
  --data FILE           keeps the records in this file; default: in memory
  --limit-per-minute N  default 120
  --limit-per-day N     default 5000

The limits are documented. What is not documented is assumed, and marked in sandbox/ where it is.`;

/** @returns undefined if the person asked only for the usage */
function optionsFromArguments(): SandboxOptions | undefined {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4010' },
      data: { type: 'string' },
      'limit-per-minute': { type: 'string', default: '120' },
      'limit-per-day': { type: 'string', default: '5000' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  return {
    port: whole('--port', values.port),
    ...(values.data === undefined ? {} : { dataFile: values.data }),
    rateLimit: {
      perMinute: whole('--limit-per-minute', values['limit-per-minute']),
      perDay: whole('--limit-per-day', values['limit-per-day']),
    },
    mcp: { enabled: true },
  };
}

function whole(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${option} must be a whole number`);
  return Number(text);
}

async function run(options: SandboxOptions): Promise<void> {
  const sandbox = await startSandbox(options);
  const curl = `curl ${sandbox.url}/sandbox/faults -H 'authorization: Bearer ${sandbox.controlKey}'`;
  const people = defaultPeople.map(({ email, password }) => `${email}  ${password}`).join('\n              ');
  console.log(`Sandbox of the project-management service
  base URL    ${sandbox.url}
  API key     ${defaultKey.apiKey}
  secret key  ${defaultKey.secretKey}
  MCP         ${sandbox.mcp.url}
  people      ${people}

Faults, for example the next answer of /defects/create lost after the work, and answers late by 1 to 3 s:
  ${curl} -d '{"kind":"cut","when":"after work","operation":"/defects/create","times":1}'
  ${curl} -d '{"kind":"latency","ms":1000,"toMs":3000}'
  ${curl} -X DELETE

Look at ${sandbox.url}/sandbox/audit and /sandbox/data. Ctrl+C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close());
}

try {
  const options = optionsFromArguments();
  if (options) await run(options);
  else console.log(usage);
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  process.exitCode = 1;
}

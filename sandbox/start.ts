import { parseArgs } from 'node:util';
import { checkOrders } from './checks.ts';
import { keyStates } from './keys.ts';
import { mcpArguments, mcpOptions, mcpUsage } from './mcp/command-line.ts';
import { defaultPeople } from './mcp/people.ts';
import { nonceMoments } from './nonces.ts';
import { windowModels } from './rate-limit.ts';
import { operations } from './routes.ts';
import { defaultKey, type SandboxOptions, startSandbox } from './sandbox.ts';

const scopes = [...new Set(operations.flatMap(({ scope }) => scope ?? []))].toSorted();

const usage = `Usage: npm run sandbox -- [options]
  --port N              default 4010
  --data FILE           keeps the records in this file; default: in memory
  --window MODEL        ${windowModels.join(', ')}
  --limit-per-minute N  default 120
  --limit-per-day N     default 5000
  --check-order N       0 to ${checkOrders.length - 1}: ${checkOrders.map((order, n) => `\n                          ${n}  ${order.join(', ')}`).join('')}
  --nonce-moment MOMENT ${nonceMoments.join(', ')}
  --scopes LIST         of the key, default *; names joined by commas: ${scopes.join(', ')}
  --key-state STATE     ${keyStates.join(', ')}
${mcpUsage}

Limits and scopes are documented. How the windows count, the order of the checks, when a nonce is remembered, the names of
the key's scopes and the names and arguments of the MCP tools are not: those defaults are assumptions, and sandbox/ marks
every other one where it is made.`;

/** @returns undefined if only the usage is wanted */
function optionsFromArguments(): SandboxOptions | undefined {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4010' },
      data: { type: 'string' },
      window: { type: 'string', default: 'sliding' },
      'limit-per-minute': { type: 'string', default: '120' },
      'limit-per-day': { type: 'string', default: '5000' },
      'check-order': { type: 'string', default: '0' },
      'nonce-moment': { type: 'string', default: 'after signature' },
      scopes: { type: 'string', default: '*' },
      'key-state': { type: 'string', default: 'active' },
      ...mcpArguments,
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  const window = windowModels.find((model) => model === values.window);
  if (window === undefined) throw new Error(`--window must be one of ${windowModels.join(', ')}`);
  const checkOrder = checkOrders[whole('--check-order', values['check-order'])];
  if (checkOrder === undefined) throw new Error(`--check-order must be below ${checkOrders.length}`);
  const nonceMoment = nonceMoments.find((moment) => moment === values['nonce-moment']);
  if (nonceMoment === undefined) throw new Error(`--nonce-moment must be one of ${nonceMoments.join(', ')}`);
  const state = keyStates.find((name) => name === values['key-state']);
  if (state === undefined) throw new Error(`--key-state must be one of ${keyStates.join(', ')}`);
  return {
    keys: [{ ...defaultKey, state, scopes: scopesOf(values.scopes) }],
    checkOrder,
    nonceMoment,
    port: whole('--port', values.port),
    ...(values.data === undefined ? {} : { dataFile: values.data }),
    rateLimit: {
      window,
      perMinute: whole('--limit-per-minute', values['limit-per-minute']),
      perDay: whole('--limit-per-day', values['limit-per-day']),
    },
    mcp: mcpOptions(values, whole),
  };
}

function scopesOf(list: string): string[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => name !== '*' && !scopes.includes(name));
  if (unknown !== undefined) throw new Error(`--scopes: no scope '${unknown}'; there are *, ${scopes.join(', ')}`);
  return names;
}

function whole(option: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`${option} must be a whole number`);
  return Number(text);
}

async function run(options: SandboxOptions): Promise<void> {
  const sandbox = await startSandbox(options);
  const authorized = `-H 'authorization: Bearer ${sandbox.controlKey}'`;
  const curl = `curl ${sandbox.url}/sandbox/faults ${authorized}`;
  const people = defaultPeople.map(({ email, password }) => `${email}  ${password}`).join('\n              ');
  console.log(`Sandbox of the project-management service
  base URL    ${sandbox.url}
  API key     ${defaultKey.apiKey}
  secret key  ${defaultKey.secretKey}
  MCP         ${sandbox.mcp.url}
  people      ${people}

Faults, for example the next answer of /defects/create lost after the work, answers late by 1 to 3 s, and a key that may
only read projects:
  ${curl} -d '{"kind":"cut","when":"after work","operation":"/defects/create","times":1}'
  ${curl} -d '{"kind":"latency","ms":1000,"toMs":3000}'
  ${curl} -d '{"kind":"key-scoped","scopes":["projects.read"]}'
  ${curl} -X DELETE

What an administrator of MCP does, for example:
  curl ${sandbox.url}/sandbox/mcp ${authorized} -d '{"do":"enable"}'
  curl ${sandbox.url}/sandbox/mcp ${authorized} -d '{"do":"revoke grants"}'

Look at ${sandbox.url}/sandbox/audit, /sandbox/data, /sandbox/mcp and /sandbox/requests. Ctrl+C ends it.`);
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

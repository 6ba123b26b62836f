import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type AnyNode, type Function as FunctionNode, parse } from 'acorn';

/** What the product does for one event. */
export interface Walk {
  /** The requests to the table in order: their kind, and the beginning of the key. */
  requests: string[];
  /** The files of the entered functions, by their first entry. */
  files: string[];
  /** The number of different functions of lib/ and functions/ that were entered. */
  functions: number;
  /** How often a function was entered in another folder than the function before. */
  changesOfFolder: number;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const files: string[] = [];
let entered: number[] = [];
let requests: string[] = [];

/** Makes every module of the product that is loaded from now on report each function that is entered. */
export function countFunctions(): void {
  Object.assign(globalThis, { enteredFunction: (id: number) => entered.push(id) });
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '';
      if (!/^(?:lib|functions)\/.*\.ts$/.test(file)) return loaded;
      return { format: 'module', source: counting(stripTypeScriptTypes(String(loaded.source)), file) };
    },
  });
}

/** Records the requests of all clients to a table from now on. */
export function countRequests(): void {
  const prototype = DynamoDBClient.prototype as unknown as { send: Send };
  const { send } = prototype;
  const counting: Send = function (this: unknown, command, ...others) {
    const { Key, Item, IndexName, ExpressionAttributeValues } = command.input;
    const [key = ''] = [Key?.pk?.S, Item?.pk?.S, IndexName, ExpressionAttributeValues?.[':pk']?.S].filter(Boolean);
    requests.push(`${command.constructor.name.replace('Command', '')} ${key.replace(/#.*/, '')}`);
    return send.call(this, command, ...others);
  };
  Object.defineProperty(prototype, 'send', { value: counting, configurable: true });
}

/** Records what the product does during an action. */
export async function walk(act: () => Promise<unknown>): Promise<Walk> {
  entered = [];
  requests = [];
  await act();
  const path = entered.map((id) => files[id] ?? '');
  const folders = path.map((file) => dirname(file));
  return {
    requests: [...requests],
    files: [...new Set(path)],
    functions: new Set(entered).size,
    changesOfFolder: folders.filter((folder, index) => index > 0 && folder !== folders[index - 1]).length,
  };
}

interface Asked {
  Key?: Record<string, { S?: string }>;
  Item?: Record<string, { S?: string }>;
  IndexName?: string;
  ExpressionAttributeValues?: Record<string, { S?: string }>;
}
type Send = (command: { input: Asked; constructor: { name: string } }, ...others: unknown[]) => Promise<unknown>;

/** Adds a call at the beginning of each function. */
function counting(code: string, file: string): string {
  const insertions: { at: number; text: string }[] = [];
  for (const { body } of functionsIn(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }))) {
    const call = `enteredFunction(${files.push(file) - 1})`;
    if (body.type === 'BlockStatement') insertions.push({ at: body.start + 1, text: `${call};` });
    else insertions.push({ at: body.start, text: `(${call},` }, { at: body.end, text: ')' });
  }
  return insertions
    .sort((a, b) => b.at - a.at)
    .reduce((done, { at, text }) => done.slice(0, at) + text + done.slice(at), code);
}

function functionsIn(node: AnyNode): FunctionNode[] {
  const inside = Object.values(node)
    .flat()
    .filter((value): value is AnyNode => typeof value?.type === 'string')
    .flatMap(functionsIn);
  return /Function/.test(node.type) ? [node as FunctionNode, ...inside] : inside;
}

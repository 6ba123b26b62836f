import { readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import * as z from 'zod/mini';

/** Asks for the fields of a secret at the terminal. The terminal does not show what a person types. */
export async function askSecret(schema: z.ZodMiniObject): Promise<Record<string, string>> {
  return withHiddenInput(async (ask) => {
    const answers: Record<string, string> = {};
    for (const [field, type] of Object.entries(schema.shape)) {
      const answer = await ask(`${field}${type instanceof z.ZodMiniOptional ? ' (optional)' : ''}`);
      if (answer !== '') answers[field] = answer;
    }
    return answers;
  });
}

/** Asks a question at the terminal. An empty answer means the default. */
export async function ask(question: string, byDefault = ''): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(`${question}${byDefault && ` [${byDefault}]`}: `)).trim() || byDefault;
  } finally {
    lines.close();
  }
}

/** Asks without showing what a person types. Prompts go to standard error; `@file` stands for the content of a file. */
export async function withHiddenInput<T>(work: (ask: (question: string) => Promise<string>) => Promise<T>): Promise<T> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines: Interface = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await work(async (question) => {
      process.stderr.write(`${question}: `);
      const answer = (await lines.question('')).trim();
      process.stderr.write('\n');
      return answer.startsWith('@') ? readFileSync(answer.slice(1), 'utf8') : answer;
    });
  } finally {
    lines.close();
  }
}

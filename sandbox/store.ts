import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { type Data, idFields } from './records.ts';
import { seed } from './seed.ts';

/** An attempt in the audit trail ("Key scopes", last paragraph). `status` is null if the connection was cut. */
export interface AuditEntry {
  time: string;
  ip: string;
  endpoint: string;
  status: number | null;
  reason: string | null;
}

type Entry =
  | { put: keyof Data; record: object }
  | { remove: keyof Data; id: string | number }
  | { nonce: string; at: number }
  | { audit: AuditEntry };

export function find<T extends object>(records: readonly T[], field: keyof T, id: string | number): T | undefined {
  return records.find((record) => String(record[field]) === String(id));
}

export function nextId<T extends object>(records: readonly T[], field: keyof T): number {
  return records.reduce((highest, record) => Math.max(highest, Number(record[field])), 0) + 1;
}

/**
 * Records, nonces and audit trail, in memory and optionally in a journal of JSON lines. One `commit` is one line,
 * written before the answer is sent. So a killed process loses nothing that it answered. It also never keeps a
 * request's work without its nonce, which would let the same bytes be carried out again.
 */
export class Store {
  readonly data: Data;
  readonly nonces = new Map<string, number>();
  readonly audit: AuditEntry[] = [];
  #uncommitted: Entry[] = [];
  readonly #descriptor: number | undefined;

  constructor(file?: string) {
    const entries = file !== undefined && existsSync(file) ? readJournal(file) : [];
    this.data = seed();
    if (entries.length > 0) for (const records of Object.values(this.data)) records.length = 0;
    for (const entry of entries) this.#apply(entry);
    if (file === undefined) return;
    // Compaction renames a new file, so the old journal stays intact if the process dies here.
    writeFileSync(
      `${file}.new`,
      this.#snapshot()
        .map((entry) => line(entry))
        .join(''),
    );
    renameSync(`${file}.new`, file);
    this.#descriptor = openSync(file, 'a');
  }

  /** Adds or replaces a record, and returns it. */
  put<C extends keyof Data, R extends Data[C][number]>(collection: C, record: R): R {
    this.#change({ put: collection, record });
    return record;
  }

  remove(collection: keyof Data, id: string | number): void {
    this.#change({ remove: collection, id });
  }

  rememberNonce(nonce: string, at: number): void {
    this.#change({ nonce, at });
  }

  addToAudit(audit: AuditEntry): void {
    this.#change({ audit });
  }

  commit(): void {
    if (this.#descriptor !== undefined && this.#uncommitted.length > 0) {
      append(this.#descriptor, line(...this.#uncommitted));
    }
    this.#uncommitted = [];
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  #change(entry: Entry): void {
    this.#apply(entry);
    this.#uncommitted.push(entry);
  }

  #apply(entry: Entry): void {
    if ('put' in entry) {
      const { records, index } = this.#locate(entry.put, Reflect.get(entry.record, idFields[entry.put]));
      if (index === -1) records.push(entry.record);
      else records[index] = entry.record;
    } else if ('remove' in entry) {
      const { records, index } = this.#locate(entry.remove, entry.id);
      if (index !== -1) records.splice(index, 1);
    } else if ('nonce' in entry) {
      this.nonces.set(entry.nonce, entry.at);
    } else {
      this.audit.push(entry.audit);
    }
  }

  #locate(collection: keyof Data, id: unknown): { records: object[]; index: number } {
    const records: object[] = this.data[collection];
    return { records, index: records.findIndex((record) => Reflect.get(record, idFields[collection]) === id) };
  }

  #snapshot(): Entry[] {
    const collections = Object.entries(this.data) as [keyof Data, object[]][];
    return [
      ...collections.flatMap(([put, records]) => records.map((record) => ({ put, record }))),
      ...[...this.nonces].map(([nonce, at]) => ({ nonce, at })),
      ...this.audit.map((audit) => ({ audit })),
    ];
  }
}

/** Appends a whole line or nothing: on a full disk, half a line would remain, and the next line would follow it. */
function append(descriptor: number, text: string): void {
  const { size } = fstatSync(descriptor);
  try {
    appendFileSync(descriptor, text);
  } catch (error) {
    ftruncateSync(descriptor, size);
    throw error;
  }
}

function line(...entries: Entry[]): string {
  return `${JSON.stringify(entries)}\n`;
}

/**
 * Reads the journal. Only the last line can be incomplete, after a kill during a write. That request was never
 * answered.
 */
function readJournal(file: string): Entry[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((text, index): Entry[] => {
    if (text === '') return [];
    try {
      return JSON.parse(text);
    } catch (cause) {
      if (index === lines.length - 1) return [];
      throw new Error(
        `${file} is damaged: line ${index + 1} is not JSON; correct the line, or remove the file to start with a new sandbox`,
        { cause },
      );
    }
  });
}

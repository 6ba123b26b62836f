interface SecretVersion {
  value: string;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** Secrets Manager in memory, with the current and the previous version of each secret. */
export class LocalSecrets {
  readonly #clock: () => number;
  readonly #versions = new Map<string, SecretVersion[]>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Sets or rotates a secret. @param createdAt of this version, in epoch milliseconds */
  put(name: string, value: object, createdAt = this.#clock()): void {
    const [current] = this.#versions.get(name) ?? [];
    const next = { value: JSON.stringify(value), createdAt };
    this.#versions.set(name, current ? [next, current] : [next]);
  }

  remove(name: string): void {
    this.#versions.delete(name);
  }

  get(name: string, stage: string): SecretVersion | undefined {
    return this.#versions.get(name)?.[stage === 'AWSPREVIOUS' ? 1 : 0];
  }
}

import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

/**
 * Replaces the SDK's checksums. They contain implementations for runtimes without `node:crypto`, and for other clients.
 */
class Checksum {
  readonly #create: () => Hash | Hmac;
  #hash: Hash | Hmac;

  constructor(create: () => Hash | Hmac) {
    this.#create = create;
    this.#hash = create();
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#create();
  }
}

export class Sha256 extends Checksum {
  constructor(secret?: string | ArrayBuffer | Uint8Array) {
    const key = secret instanceof ArrayBuffer ? new Uint8Array(secret) : secret;
    super(() => (key ? createHmac('sha256', key) : createHash('sha256')));
  }
}

export class Md5 extends Checksum {
  constructor() {
    super(() => createHash('md5'));
  }
}

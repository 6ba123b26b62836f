import { type Fault, isKeyFault, type KeyFault } from './faults.ts';

/** "Unknown or revoked key": a key that does not exist, is inactive, expired or revoked. */
export const keyStates = ['active', 'inactive', 'expired', 'revoked'] as const;

export type KeyState = (typeof keyStates)[number];

export interface SandboxKey {
  apiKey: string;
  secretKey: string;
  /** `*` allows everything. Other names are assumed. */
  scopes: readonly string[];
  /** Default: active. */
  state?: KeyState;
}

/** The key with the faults of a request applied. */
export function keyUnder(faults: readonly Fault[], key: SandboxKey | undefined): SandboxKey | undefined {
  if (!key) return undefined;
  const own = faults.filter(isKeyFault).filter(({ apiKey = key.apiKey }) => apiKey === key.apiKey);
  return Object.assign({}, key, ...own.map(changeBy));
}

function changeBy(fault: KeyFault): Partial<SandboxKey> {
  switch (fault.kind) {
    case 'key-scoped':
      return { scopes: fault.scopes };
    case 'key-inactive':
      return { state: 'inactive' };
    case 'key-expired':
      return { state: 'expired' };
    case 'key-revoked':
      return { state: 'revoked' };
  }
}

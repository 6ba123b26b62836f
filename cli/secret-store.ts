import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { hooksSecret } from '../lib/state/secrets/hook-secrets.ts';
import { instanceSecret } from '../lib/state/secrets/partner-secrets.ts';
import { parsedJson } from '../lib/text.ts';
import { keepSecret, readKeptSecrets, secretsFile } from '../local/kept-secrets.ts';
import { awsClient } from './aws.ts';

/** Where secrets are stored: in the Secrets Manager of a stage, or in a file on this machine. */
export interface SecretStore {
  /**
   * Checks that these secrets can be written, before the caller uses up a code that works only once.
   *
   * @throws {Error} if they cannot
   */
  check(names: readonly string[]): Promise<void>;
  /** Writes a secret, and prints its name and the names of its fields. */
  put(name: string, value: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * The label of a version that only tests whether a secret can be written. A version with its own label does not become
 * the current one, unless the secret had no value (PutSecretValue, API reference).
 */
const CHECK_LABEL = 'PARTNER_RELAY_CHECK';

export function openSecretStore(stage: string | undefined): SecretStore {
  return stage === undefined ? ofThisMachine : ofStage(stage);
}

function ofStage(stage: string): SecretStore {
  const client = new SecretsManagerClient(awsClient());
  const idOf = (name: string) => `partner-relay/${stage}/${name}`;
  return {
    async check(names) {
      for (const name of names) {
        const VersionStages = [CHECK_LABEL];
        await client.send(new PutSecretValueCommand({ SecretId: idOf(name), SecretString: '{}', VersionStages }));
      }
    },
    async put(name, value) {
      const [, hook] = /^hooks\/(.+)$/.exec(name) ?? [];
      const SecretId = idOf(hook === undefined ? name : 'hooks');
      const stored = hook === undefined ? value : { ...(await hooks(SecretId)), [hook]: Object.values(value) };
      await client.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(stored) }));
      console.log(`${SecretId} is stored (${fieldsOf(stored)}). The functions use the new value within a minute.`);
      const [, connection] = /^partner\/(.+)$/.exec(name) ?? [];
      if (connection !== undefined) await putAddress(connection, value);
    },
  };

  /** Reads the secrets of all webhooks, which are one secret, so that entering one keeps the others. Empty at first. */
  async function hooks(SecretId: string): Promise<object> {
    try {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
      // A new secret of an emulator has an empty value.
      const kept = hooksSecret.safeParse(SecretString ? parsedJson(SecretString) : {});
      if (kept.success) return kept.data;
      throw new Error(
        `${SecretId} does not hold the secrets of webhooks, by the names of their files: correct its value in Secrets Manager`,
      );
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return {};
      throw error;
    }
  }

  /** Stores the address in its own secret, too, where people link accounts, so that both change together. */
  async function putAddress(connection: string, partner: Readonly<Record<string, unknown>>): Promise<void> {
    const SecretId = idOf(`instance/${connection}`);
    const SecretString = JSON.stringify(instanceSecret.parse(partner));
    try {
      await client.send(new PutSecretValueCommand({ SecretId, SecretString }));
      console.log(`${SecretId} is stored, too (only the address).`);
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
    }
  }
}

const ofThisMachine: SecretStore = {
  async check() {
    const [[name, value] = []] = readKeptSecrets();
    if (name !== undefined && value) keepSecret(name, value);
  },
  async put(name, value) {
    keepSecret(name, value);
    console.log(
      `${name} is stored in ${secretsFile()}, which only you can read. ${name.startsWith('hooks/') ? 'The relay needs no restart' : 'If the relay runs, start it again to use it'}.`,
    );
  },
};

const fieldsOf = (value: object) => Object.keys(value).join(', ');

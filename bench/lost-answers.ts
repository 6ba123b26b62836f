import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import config from '../relay.config.ts';
import type { Fault } from '../sandbox/faults.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { startRelayProcess } from './npm-start.ts';
import { openedIssues } from './opened-issue.ts';

const LOOK_EVERY_MS = 50;
const PER_DAY = 100_000;

/** A service and `npm start`, which has just got a number of issues. */
export interface Burst {
  sandbox: Sandbox;
  startedAt: number;
  /** How many defects there are now. */
  made(): number;
  /** Waits until there are so many. @returns the seconds since `from`, or undefined if it takes longer than that */
  until(defects: number, withinMs: number, from?: number): Promise<number | undefined>;
}

/** Starts `npm start` with a service of its own, posts the issues at once, and looks on. */
export async function withBurst<T>(
  folder: string,
  { issues, perMinute = 120, faults }: { issues: number; perMinute?: number; faults: readonly Fault[] },
  watch: (burst: Burst) => Promise<T>,
): Promise<T> {
  mkdirSync(folder, { recursive: true });
  const limits = { perMinute, perDay: PER_DAY };
  const sandbox = await startSandbox({ rateLimit: limits });
  const seeded = sandbox.data.defects.length;
  const relay = await startRelayProcess(folder, {
    RELAY_CONFIG: writeConfig(folder, limits),
    PARTNER_BASE_URL: sandbox.url,
    PARTNER_API_KEY: sandbox.keys[0]?.apiKey ?? '',
    PARTNER_SECRET_KEY: sandbox.keys[0]?.secretKey ?? '',
    PARTNER_ALLOW_INSECURE_HTTP: 'true',
  });
  try {
    for (const fault of faults) sandbox.setFault(fault);
    const nextIssue = openedIssues(config);
    const startedAt = Date.now();
    await Promise.all(
      Array.from({ length: issues }, async () => {
        const answer = await fetch(relay.url, { method: 'POST', ...nextIssue() });
        if (answer.status !== 202) throw new Error(`the webhook answered ${answer.status}: ${await answer.text()}`);
      }),
    );
    const made = () => sandbox.data.defects.length - seeded;
    return await watch({
      ...{ sandbox, startedAt, made },
      async until(defects, withinMs, from = startedAt) {
        while (made() < defects) {
          if (Date.now() > from + withinMs) return undefined;
          await sleep(LOOK_EVERY_MS);
        }
        return (Date.now() - from) / 1_000;
      },
    });
  } finally {
    await relay.stop();
    await sandbox.close();
  }
}

/** This project's configuration with other limits. */
function writeConfig(folder: string, limits: object): string {
  const file = join(folder, 'relay.config.ts');
  const own = fileURLToPath(new URL('../relay.config.ts', import.meta.url));
  const connections = { main: { limits } };
  writeFileSync(
    file,
    `import config from ${JSON.stringify(own)};\nexport default { ...config, connections: ${JSON.stringify(connections)} };\n`,
  );
  return file;
}

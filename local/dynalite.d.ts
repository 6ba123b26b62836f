declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** An implementation of DynamoDB on LevelDB: on disk below `path`, or in memory without it. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}

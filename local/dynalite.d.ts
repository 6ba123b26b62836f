declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** An implementation of DynamoDB on LevelDB. It stores data below `path`; without it, in memory. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}

declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** An implementation of DynamoDB on LevelDB. It stores data below `path`, or in memory without `path`. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}

import { withTable } from '../../docs/made-table.ts';
import { ceilingTable } from './ceilings.ts';
import { costTables } from './costs.ts';
import { tableOf } from './table.ts';

/** docs/deploy.md with the costs of a stage. */
export async function withCosts(page: string): Promise<string> {
  return Object.entries(await costTables()).reduce((made, [name, rows]) => withTable(made, name, tableOf(rows)), page);
}

/** docs/scale.md with the ceilings. */
export const withCeilings = (page: string): string => withTable(page, 'ceilings', tableOf(ceilingTable()));

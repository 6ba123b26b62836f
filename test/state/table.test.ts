import { describe } from 'vitest';
import { startDynalite } from './table-server.ts';
import { tableStatements } from './table-statements.ts';

describe('on dynalite', () => tableStatements(startDynalite));

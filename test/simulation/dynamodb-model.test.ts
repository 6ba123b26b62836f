import { describe } from 'vitest';
import { startDynalite } from '../state/table-server.ts';
import { modelStatements } from './table-statements.ts';

describe('on dynalite', () => modelStatements(startDynalite));

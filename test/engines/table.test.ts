import { describe } from 'vitest';
import { modelStatements } from '../simulation/table-statements.ts';
import { withTable } from '../state/table-server.ts';
import { tableStatements } from '../state/table-statements.ts';
import { startDynamoDbLocal } from './engines.ts';

const startServer = () => withTable(startDynamoDbLocal);

describe('on DynamoDB Local', () => {
  describe('the table', () => tableStatements(startServer));
  describe('the model', () => modelStatements(startServer));
});

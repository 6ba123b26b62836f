import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { note } from './recorder.ts';

afterAll(() => {
  const { testPath = '' } = expect.getState();
  note(`${Math.round(performance.now())} ${hash('sha256', readFileSync(testPath))} ${testPath}`);
});

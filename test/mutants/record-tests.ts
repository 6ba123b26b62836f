import { afterAll, expect } from 'vitest';
import { note } from './recorder.ts';

afterAll(() => note(`${Math.round(performance.now())} ${expect.getState().testPath}`));

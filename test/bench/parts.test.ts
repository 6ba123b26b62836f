import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parts } from '../../bench/parts.ts';

it.each(parts)(
  'the part $name of the bench can be measured',
  async ({ name, measure }) => {
    const folder = mkdtempSync(join(tmpdir(), `partner-relay-bench-${name}-`));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const figures = [];
    for await (const figure of measure({ folder, write: false, isTrial: true })) figures.push(figure);
    expect(figures).not.toEqual([]);
  },
  // The package is built.
  120_000,
);

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('a command ends quietly when the reader of its output closes it', () => {
  const program = `
    import ${JSON.stringify(join(import.meta.dirname, '../../cli/end-with-reader.ts'))};
    for (let line = 0; ; line++) {
      console.log('line', line);
      await new Promise(setImmediate);
    }`;
  const shell = `exec 3>&1; { "$0" --input-type=module -e "$1" 2>&3; echo "ended with $?" >&3; } | head -n 1`;
  const told = execFileSync('sh', ['-c', shell, process.execPath, program], { encoding: 'utf8', timeout: 20_000 });
  expect(told).toBe('line 0\nended with 0\n');
});

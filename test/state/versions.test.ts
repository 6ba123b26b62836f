import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { READS_SINCE, versionFault, type Wrote } from '../../lib/state/table/versions.ts';
import { VERSION } from '../../lib/version.ts';

const ran = (version: string, form = 1): Wrote => ({ version, form });

it.each<[string, Wrote | undefined, [mine: string, since: string, form?: number], string | undefined]>([
  ['a version that does not say what it is', undefined, ['2.0.0', '1.9.0'], undefined],
  ['the same', ran('1.2.0'), ['1.2.0', '0.9.0'], undefined],
  ['a patch later', ran('1.2.0'), ['1.2.1', '0.9.0'], undefined],
  ['many minors later', ran('1.2.0'), ['1.10.0', '0.9.0'], undefined],
  ['the last minor of the major before', ran('1.9.3'), ['2.0.0', '1.9.0'], undefined],
  ['an older minor of the major before', ran('1.8.0'), ['2.4.0', '1.9.0'], '1.9.0'],
  ['a jump over a major', ran('1.9.0'), ['3.0.0', '2.10.0'], '2.10.0'],
  ['in 0.x, the last patch of the minor before', ran('0.1.4'), ['0.2.0', '0.1.4'], undefined],
  ['in 0.x, a jump over a minor', ran('0.1.4'), ['0.3.0', '0.2.2'], '0.2.2'],
  ['a version before a release', ran('0.2.2-beta.1'), ['0.3.0', '0.2.2'], undefined],
  ['back to a minor that reads the form', ran('1.9.0', 2), ['1.8.0', '0.9.0', 2], undefined],
  ['back to a major that reads the form', ran('2.0.0'), ['1.9.0', '0.9.0'], undefined],
  ['back to a version that does not read the form', ran('2.0.0', 2), ['1.9.0', '0.9.0'], '2.0.0'],
])('%s: stored data is still used, or the version between is named', (_, wrote, [mine, since, form = 1], between) => {
  const fault = versionFault(wrote, mine, { since, form });
  if (between === undefined) expect(fault).toBeUndefined();
  else expect(fault).toMatch(new RegExp(`${mine}.*, with npm install partner-relay@${between}$`));
});

it('this version reads the items of its major and of the one before, and all of them are tested', () => {
  const majorOf = (version: string) => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    return major === 0 ? minor : major;
  };
  expect(majorOf(VERSION) - majorOf(READS_SINCE)).toBeLessThanOrEqual(1);
  expect(readdirSync(new URL('items/', import.meta.url))).toContain(`${READS_SINCE}.json`);
});

import { beforeAll, expect, it, vi } from 'vitest';
import { NoTime, unfold } from '../../lib/automations/tests-to-scenarios/archive.ts';
import { privateKey } from '../github-identity.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { archiveOf, idOf, junit, upload, workflowRun } from '../workflow-runs.ts';

const SCENARIO = 'f3c9d5e8-7a14-4d60-9b2f-2e8a1c6b4d01';
const report = junit({ scenario: SCENARIO });

let relay: TestRelay;
let number = 0;

beforeAll(async () => {
  const tests = { workflows: ['ci.yml'], artifacts: ['*'], status: { passed: 'passed', failed: 'failed' } };
  const config = exampleConfig({}, { tests });
  relay = await startRelay({ config, github: { appId: '12', privateKey } });
});

/** Returns what the check says about a run with these artifacts, and the number of updates that were sent for it. */
async function checked(...archives: readonly Uint8Array[]): Promise<{ said: string; sent: number }> {
  number++;
  const before = relay.sandbox.audit.length;
  for (const [index, archive] of archives.entries()) await upload(relay.github, number, archive, `junit-${index}`);
  await relay.post('workflow_run', workflowRun({ number }));
  await relay.workToTheEnd();
  expect(await relay.jobs('parked')).toEqual([]);
  expect(relay.github.checkRuns).toHaveLength(number);
  return { said: relay.github.checkRuns.at(-1)?.output.summary ?? '', sent: relay.sandbox.audit.length - before };
}

const megabytes = (count: number, of = ' ') => of.repeat((count * 1024 * 1024) / of.length);

/** Replaces bytes of the archive, wherever they occur. */
function patched(archive: Buffer, from: string | Buffer, to: string | Buffer): Buffer {
  const [old, next] = [Buffer.from(from as string), Buffer.from(to as string)];
  expect(old.length).toBe(next.length);
  const copy = Buffer.from(archive);
  let found = 0;
  for (let at = copy.indexOf(old); at !== -1; at = copy.indexOf(old, at + 1), found++) next.copy(copy, at);
  expect(found).toBeGreaterThan(0);
  return copy;
}

/** Changes a field of an entry in the central directory. */
function inDirectory(archive: Buffer, offset: number, value: number, bytes: 2 | 4): Buffer {
  const copy = Buffer.from(archive);
  const entry = copy.indexOf(Buffer.from('PK\x01\x02', 'latin1'));
  if (bytes === 2) copy.writeUInt16LE(value, entry + offset);
  else copy.writeUInt32LE(value, entry + offset);
  return copy;
}

/** Moves the clock before each archive is delivered. @param takesMs returns the time for the nth archive */
function slowStore(takesMs: (fetched: number) => number) {
  const get = relay.github.artifacts.get.bind(relay.github.artifacts);
  let fetched = 0;
  return vi.spyOn(relay.github.artifacts, 'get').mockImplementation((id) => {
    relay.clock.now += takesMs(fetched++);
    return get(id);
  });
}

const stored = (text: string) => archiveOf({ 'report.xml': text }, { compress: false });

/** A text that compresses slightly less than the refused ratio. */
function padded(): string {
  const noise = Array.from({ length: 8 * 1024 }, (_, index) => String.fromCharCode(97 + ((index * index * 31) % 26)));
  return `<testsuite>${megabytes(3, `${noise.sort(() => 0.5 - Math.random()).join('')}${' '.repeat(24 * 1024)}`)}</testsuite>`;
}

const xml = (text: string | Uint8Array) => archiveOf({ 'report.xml': text });
const inSuite = (text: string) => `<testsuite name="s">${text}</testsuite>`;
const withEntities = (entities: string) => xml(`<!DOCTYPE a [${entities}]>${inSuite('<testcase name="&a;"/>')}`);
/** This many files, named and filled by their numbers. */
const files = (count: number, ending: string, text: string) =>
  archiveOf(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}.${ending}`, text])));
const atPath = async (path: string) => patched(await archiveOf({ 'aa/report.xml': report }), 'aa/report.xml', path);
const tests = (count: number) => inSuite('<testcase/>'.repeat(count));
const property = (count: number) => '<property name="pm_case" value="1"/>'.repeat(count);
const attributes = Array.from({ length: 65 }, (_, index) => `a${index}="1"`).join(' ');

const NO_ARCHIVE = 'it is not a readable archive';
const NO_XML = 'it is not readable XML';
const DOCUMENT_TYPE = 'it declares a document type';
const PROPERTIES = 'a test has more than 200 properties';

it.each<[string, () => Promise<Uint8Array>, string]>([
  ['no archive', async () => Buffer.from(report), NO_ARCHIVE],
  ['a part of an archive', async () => (await xml(report)).subarray(0, -30), NO_ARCHIVE],
  ['too much in all', () => files(23, 'xml', padded()), 'the files of the run have more than 64 MB'],
  ['too many files', () => files(2_001, 'txt', ''), 'it has more than 2000 files'],
  ['a path out of the archive', () => atPath('../report.xml'), NO_ARCHIVE],
  ['an absolute path', () => atPath('//report.xmll'), NO_ARCHIVE],
  ['an encrypted file', async () => inDirectory(await xml(report), 8, 1, 2), NO_ARCHIVE],
  ['a size that is too small', async () => inDirectory(await xml(report), 24, 10, 4), NO_ARCHIVE],
  ['a size that is too large', async () => inDirectory(await xml(report), 24, 99_999, 4), NO_ARCHIVE],
  ['zip64 with false sizes', async () => inDirectory(await xml(report), 24, 0xffffffff, 4), 'the files of the run'],
  ['an offset beyond the end', async () => inDirectory(await xml(report), 42, 0x7fffffff, 4), NO_ARCHIVE],
])('a hostile artifact is not used, and the check says why: %s', async (_, archive, why) => {
  const { said, sent } = await checked(await archive(), await xml(report));
  expect(said).toContain(`The artifact junit-0 was not used completely: ${why}`);
  // A part is missing, so it is unknown whether all tests passed.
  expect(sent).toBe(0);
});

it.each<[string, () => Promise<Uint8Array>, string]>([
  ['a bomb', () => xml(inSuite(megabytes(40))), 'it is not text: its compression ratio is too high'],
  ['entities in entities', () => withEntities('<!ENTITY b "aa"><!ENTITY a "&b;&b;">'), DOCUMENT_TYPE],
  ['an external entity', () => withEntities('<!ENTITY a SYSTEM "file:///etc/passwd">'), DOCUMENT_TYPE],
  ['deep nesting', () => xml(inSuite('<a>'.repeat(70))), 'elements are nested more than 64 deep'],
  ['many attributes', () => xml(inSuite(`<testcase ${attributes}/>`)), 'an element has more than 64 attributes'],
  ['a giant attribute', () => xml(inSuite(`<testcase name="${padded().slice(11, -12)}"/>`)), NO_XML],
  ['a giant attribute that is not compressed', () => stored(`<testsuite name="${megabytes(31)}">`), NO_XML],
  ['many properties', () => xml(inSuite(`<properties>${property(201)}</properties>`)), PROPERTIES],
  ['many properties of nested suites', () => xml(`<testsuite>${`<testsuite>${property(101)}`.repeat(2)}`), PROPERTIES],
  ['too many tests', () => files(2, 'xml', tests(51_000)), 'the run has more than 100000 tests'],
  ['too many tests of a file', () => stored(tests(101_000)), 'it has more than 100000 tests and'],
  ['an end in the middle', () => xml('<testsuite><testcase name="a">'), NO_XML],
  ['no XML', () => xml('passed'), NO_XML],
])('a broken report is named with the reason, and the others are read: %s', async (_, archive, why) => {
  const { said, sent } = await checked(await archive(), await xml(report));
  expect(said.replaceAll('\\', '')).toMatch(new RegExp(`Broken: \\d[^]*- junit-0: \\S+xml: ${why}`));
  expect(said).toMatch(/[1-9]\d* passed/);
  // A part is missing, so it is unknown whether all tests passed.
  expect(sent).toBe(0);
});

it('artifacts that are too large together are not all fetched', async () => {
  const large = await archiveOf({ 'video.bin': Buffer.alloc(30 * 1024 * 1024) }, { compress: false });
  const { said, sent } = await checked(await xml(report), large, large, large, large, large);
  expect(said).toContain('was not used completely: the artifacts of the run have more than 128 MB');
  expect(sent).toBe(0);
});

it('reports that one run of the worker has no time for are read by the next run', async () => {
  const archive = await xml(report);
  const slow = slowStore(() => 3_000);
  const { said, sent } = await checked(...Array.from({ length: 20 }, () => archive));
  slow.mockRestore();
  expect(said).toContain('20 passed, 0 failed');
  expect(said).not.toContain('was not used completely');
  expect(sent).toBe(1);
});

it('an artifact is read by the next run if the worker stalled during its download', async () => {
  const archive = await xml(report);
  const slow = slowStore((fetched) => (fetched === 0 ? 65_000 : 0));
  const { said } = await checked(archive, archive);
  slow.mockRestore();
  expect(said).toContain('2 passed, 0 failed');
  expect(said).not.toContain('was not used completely');
});

it('an artifact that takes longer to read than a run of the worker is left out, and the others are read', async () => {
  const large = await stored(`<testsuite>${megabytes(8)}</testsuite>`);
  const { clock } = relay;
  let { now } = clock;
  // Each reading of the clock takes half a second, until the relay gives up the first archive.
  let looks = 0;
  const slow = slowStore(() => {
    Object.defineProperty(clock, 'now', {
      configurable: true,
      get() {
        if (looks++ < 110) now += 500;
        return now;
      },
      set(at: number) {
        now = at;
      },
    });
    return 0;
  });
  const { said, sent } = await checked(large, await xml(report));
  slow.mockRestore();
  Object.defineProperty(clock, 'now', { configurable: true, writable: true, value: now });
  expect(said).toContain('1 passed, 0 failed');
  expect(said).toContain('was not used completely: it takes too long to read');
  expect(sent).toBe(0);
});

it('an uncompressed file is read in pieces, with a reading of the clock before each', async () => {
  const pieces: number[] = [];
  const file = { write: (piece: Uint8Array) => void pieces.push(piece.length), end() {} };
  const isTimeOver = () => pieces.length === 3;
  const archive = await stored(megabytes(31));
  const unfolded = unfold(archive, { bytes: 0 }, isTimeOver, () => file, vi.fn());
  await expect(unfolded).rejects.toThrow(NoTime);
  expect(pieces).toEqual([65_536, 65_536, 65_536]);
});

it('a run takes 20 artifacts', async () => {
  const archive = await xml(report);
  const { said, sent } = await checked(...Array.from({ length: 30 }, () => archive));
  expect(said).toContain('20 passed, 0 failed');
  expect(said.match(/was not used completely: a run takes 20 artifacts/g)).toHaveLength(10);
  expect(sent).toBe(0);
});

it('the outcome counts as unknown if a run has more artifacts than GitHub lists', async () => {
  const archive = await xml(report);
  for (let id = 1; id <= 500; id++) {
    const old = { runId: idOf(number + 1), name: 'old', createdAt: '2026-11-20T09:54:00Z', archive };
    relay.github.artifacts.set(10_000 + id, old);
  }
  const { said, sent } = await checked(await xml(report));
  const named = said.replaceAll('\\', '');
  expect(named).toContain('The artifact * was not used completely: the run has 500 artifacts or more');
  expect(sent).toBe(0);
});

it.each<[string, () => Promise<Uint8Array>]>([
  ['an archive in the archive', async () => archiveOf({ 'inner.zip': await xml(report), 'report.txt': report })],
  ['a symbolic link', () => archiveOf({ 'report.xml': report }, { mode: 0o120777 })],
  ['a folder', async () => archiveOf({})],
])('a file that is not a report is not opened: %s', async (_, archive) => {
  const said = expect.stringContaining('0 passed, 0 failed');
  expect(await checked(await archive())).toMatchObject({ sent: 0, said });
});

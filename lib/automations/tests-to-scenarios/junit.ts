import sax from 'sax';
import { encodingOf } from '../../encoding.ts';
import { ReportFault } from './archive.ts';

export interface Test {
  /** `<class name>.<name>` */
  name: string;
  file: string;
  result: 'passed' | 'failed' | 'skipped';
  /** The values of its `pm_` properties. A suite's property counts if the test has none of that name. */
  properties: ReadonlyMap<string, readonly string[]>;
}

/** How many bytes to read for the XML declaration, which contains the encoding. */
const DECLARATION_BYTES = 256;
export const MOST_TESTS = 100_000;
const MOST_DEPTH = 64;
const MOST_ATTRIBUTES = 64;
/** The limit for a test, including the properties of its suites. */
const MOST_PROPERTIES = 200;
const LONGEST_VALUE = 65;
const LONGEST_NAME = 500;
/**
 * The words in `status` and `result` of a test that was run: `run` and `completed` in GoogleTest and CTest, `passed` in
 * Ginkgo and Behave. Any other word, such as `notrun`, `suppressed`, `disabled`, `pending` or `undefined`, means that
 * the test was not run. https://google.github.io/googletest/advanced.html#generating-an-xml-report
 */
const WAS_RUN = /^(run|ran|completed|executed|finished|pass(ed)?|ok|success(ful)?|succeeded)?$/i;
const HAS_FAILED = /^(fail|err)/i;
/** The root elements of other test result formats, and how to export JUnit instead. */
const OTHER_FORMATS: Readonly<Record<string, string>> = {
  assemblies: ' of xUnit: export JUnit with --logger junit of JunitXml.TestLogger',
  'test-run': ' of NUnit: export JUnit with --logger junit of JunitXml.TestLogger',
  'test-results': ' of NUnit: export JUnit with --logger junit of JunitXml.TestLogger',
};
const RESULTS: Readonly<Record<string, Test['result']>> = { failure: 'failed', error: 'failed', skipped: 'skipped' };

/** An open suite or test. A suite can fail, too. */
interface Holder extends Omit<Test, 'properties'> {
  depth: number;
  properties: Map<string, string[]>;
  /** The same for all repetitions of a test or suite in the file, and different from all others. */
  key: number;
  /** How many properties and tests the file had before this element. */
  before: { properties: number; tests: number };
}

/**
 * Reads JUnit XML as a stream: the elements and attributes that test runners agree on. A document type declaration is
 * refused, so only entities for characters can occur. https://github.com/testmoapp/junitxml
 *
 * @param found is called at the end for each test, even if the report is broken after it
 * @param ignored is called with the reason if a file is no test report: it is empty, or has another root
 * @param hasFailed true if the run failed. In a successful run, a test that failed and then passed was retried.
 */
export function createJunitReader(
  found: (test: Test) => void,
  ignored: (why: string) => void,
  hasFailed = false,
): { write(piece: Uint8Array): void; end(): void } {
  const decode = createXmlDecoder();
  // With `position`, sax limits the length of texts and attributes.
  const parser = sax.parser(true, { position: true });
  const open: Holder[] = [];
  const tests: (Test & { key: number })[] = [];
  const keys = new Map<string, number>();
  let [depth, attributes, properties, holders, hasDoctype, hasRoot, isOver] = [0, 0, 0, 0, false, false, false];
  const refuse = (why: string): never => {
    throw new ReportFault(why);
  };
  parser.onerror = ({ message }) => {
    // The output of programs may contain ampersands, and references to characters that XML does not allow.
    if (isOver || /^Invalid character (entity|in entity name)/.test(message)) parser.resume();
    else refuse('it is not readable XML');
  };
  parser.ondoctype = () => {
    hasDoctype = true;
  };
  parser.onopentagstart = () => {
    attributes = 0;
  };
  parser.onattribute = () => {
    if (++attributes > MOST_ATTRIBUTES) refuse(`an element has more than ${MOST_ATTRIBUTES} attributes`);
  };
  parser.onopentag = ({ name, attributes: given }) => {
    if (isOver) return;
    hasRoot = true;
    if (depth === 0 && !isHolder(name)) {
      isOver = true;
      const format = Object.hasOwn(OTHER_FORMATS, name) ? OTHER_FORMATS[name] : '';
      return ignored(`root <${name.slice(0, LONGEST_NAME)}>${format}`);
    }
    if (hasDoctype) refuse('it declares a document type');
    if (++depth > MOST_DEPTH) refuse(`elements are nested more than ${MOST_DEPTH} deep`);
    const attribute = (of: string) => (Object.hasOwn(given, of) ? String(given[of]) : '').slice(0, LONGEST_NAME);
    const inner = open.at(-1);
    const result = Object.hasOwn(RESULTS, name) ? RESULTS[name] : undefined;
    if (isHolder(name)) {
      if (++holders > MOST_TESTS) refuse(`it has more than ${MOST_TESTS} tests and suites`);
      const title = [attribute('classname'), attribute('name')].filter((part) => part !== '').join('.');
      const file = attribute('file');
      const unique = JSON.stringify([inner?.key, name, title, file, attribute('hostname')]);
      const key = keys.get(unique) ?? keys.size;
      keys.set(unique, key);
      const said = name === 'testcase' ? resultOf(attribute) : 'passed';
      const before = { properties, tests: tests.length };
      open.push({ name: title, file, result: said, depth, key, properties: new Map(), before });
    } else if (inner && result && depth === inner.depth + 1) {
      if (inner.result !== 'failed') inner.result = result;
    } else if (inner && name === 'property' && attribute('name').startsWith('pm_')) {
      if (++properties > MOST_PROPERTIES) refuse(`a test has more than ${MOST_PROPERTIES} properties`);
      const before = inner.properties.get(attribute('name')) ?? [];
      inner.properties.set(attribute('name'), [...before, attribute('value').trim().slice(0, LONGEST_VALUE)]);
    }
  };
  parser.onclosetag = (name) => {
    if (isOver) return;
    depth--;
    const closed = isHolder(name) ? open.at(-1) : undefined;
    if (!closed) return;
    const isBrokenSuite = name !== 'testcase' && closed.result === 'failed';
    // The failure of a suite may concern any of its tests.
    const concerned = isBrokenSuite
      ? tests.slice(closed.before.tests).filter(({ result }) => result !== 'skipped')
      : [];
    for (const test of concerned) test.result = 'failed';
    if (name === 'testcase' || (isBrokenSuite && concerned.length === 0))
      tests.push({ ...closed, properties: new Map(open.flatMap((holder) => [...holder.properties])) });
    open.pop();
    properties = closed.before.properties;
  };

  function report(): void {
    const passed = new Set<number>();
    const last = tests.reverse().filter(({ key, result }) => {
      if (result === 'passed') passed.add(key);
      return hasFailed || result !== 'failed' || !passed.has(key);
    });
    for (const test of last.reverse()) found(test);
  }

  /** @throws {ReportFault} after reporting the tests found so far */
  function parse(act: () => void): void {
    try {
      if (!isOver) act();
    } catch (error) {
      report();
      throw error;
    }
  }
  return {
    write: (piece) => parse(() => parser.write(decode(piece))),
    end() {
      parse(() => parser.write(decode()).close());
      if (!hasRoot) ignored('empty');
      report();
    },
  };
}

/** Decodes pieces of XML. The first bytes or the declaration decide the encoding. */
function createXmlDecoder(): (piece?: Uint8Array) => string {
  let start: Uint8Array = new Uint8Array();
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  return (piece) => {
    const stream = piece !== undefined;
    if (decoder) return decoder.decode(piece, { stream });
    start = Buffer.concat([start, piece ?? new Uint8Array()]);
    if (stream && start.length < DECLARATION_BYTES) return '';
    const [, said] = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)/.exec(Buffer.from(start).toString('latin1')) ?? [];
    decoder = new TextDecoder(encodingOf(start, said));
    return decoder.decode(start, { stream });
  };
}

const isHolder = (name: string) => name === 'testsuite' || name === 'testsuites' || name === 'testcase';

/** The result of a test whose elements do not say otherwise. */
function resultOf(attribute: (of: string) => string): Test['result'] {
  const said = [
    attribute('status'),
    attribute('result'),
    /^(true|1|yes)$/i.test(attribute('disabled')) ? 'disabled' : '',
  ];
  if (said.some((word) => HAS_FAILED.test(word))) return 'failed';
  return said.every((word) => WAS_RUN.test(word)) ? 'passed' : 'skipped';
}

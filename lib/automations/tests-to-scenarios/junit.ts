import sax from 'sax';
import { ReportFault } from './archive.ts';

/** A test in a report. */
export interface Test {
  /** `<class name>.<name>` */
  name: string;
  file: string;
  result: 'passed' | 'failed' | 'skipped';
  /** The values of its `pm_` properties, or of those of its suites where it has none of that name. */
  properties: ReadonlyMap<string, readonly string[]>;
}

const MOST_DEPTH = 64;
const MOST_ATTRIBUTES = 64;
/** Of a test with its suites: each of its suites' properties is one of the test, too. */
const MOST_PROPERTIES = 200;
const LONGEST_VALUE = 65;
const LONGEST_NAME = 500;
/**
 * What a test says of itself in `status` and `result`: `run` and `completed` of GoogleTest and CTest, `passed` of Ginkgo
 * and Behave. Any other word is that of a test that was not run: `notrun`, `suppressed`, `disabled`, `pending`, `undefined`.
 * https://google.github.io/googletest/advanced.html#generating-an-xml-report
 */
const WAS_RUN = /^(run|ran|completed|executed|finished|pass(ed)?|ok|success(ful)?|succeeded)?$/i;
const HAS_FAILED = /^(fail|err)/i;
/** The roots of reports that no JUnit report has, and what writes JUnit in their place. */
const OWN_FORMATS: Readonly<Record<string, string>> = {
  assemblies: 'xUnit: export JUnit with --logger junit of JunitXml.TestLogger',
  'test-run': 'NUnit: export JUnit with --logger junit of JunitXml.TestLogger',
  'test-results': 'NUnit: export JUnit with --logger junit of JunitXml.TestLogger',
};
const RESULTS: Readonly<Record<string, Test['result']>> = { failure: 'failed', error: 'failed', skipped: 'skipped' };

/** The roots of what tools leave beside reports. Of any other file it is unknown whether it has tests. */
const NO_REPORTS = new Set(['coverage', 'report', 'checkstyle', 'CoverageSession']);

/**
 * Reads JUnit XML as it comes: the elements and attributes that test runners agree on. A declaration of a document type
 * is refused, so there are no entities but those that are a character. https://github.com/testmoapp/junitxml
 *
 * @param found is called for each test at its end
 * @param ignored is called with the root of a file that is no test report, such as one of coverage; the rest is not read
 */
export function createJunitReader(
  found: (test: Test) => void,
  ignored: (root: string) => void,
): { write(piece: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // With `position`, sax bounds the length of texts and attributes.
  const parser = sax.parser(true, { position: true });
  /** `before`: how many properties its suites had before it. */
  const open: { properties: Map<string, string[]>; before: number; test?: Omit<Test, 'properties'> | undefined }[] = [];
  let [depth, attributes, properties, isJunit, hasDoctype, isIgnored] = [0, 0, 0, false, false, false];
  const refuse = (why: string): never => {
    throw new ReportFault(why);
  };
  parser.onerror = () => refuse('a file in it is not XML that can be read');
  parser.ondoctype = () => {
    hasDoctype = true;
  };
  parser.onopentagstart = () => {
    attributes = 0;
  };
  parser.onattribute = () => {
    if (++attributes > MOST_ATTRIBUTES) refuse(`an element in it has more than ${MOST_ATTRIBUTES} attributes`);
  };
  parser.onopentag = ({ name, attributes: given }) => {
    if (isIgnored) return;
    if (depth === 0 && !isHolder(name)) {
      if (Object.hasOwn(OWN_FORMATS, name)) refuse(`a file in it has the format of ${OWN_FORMATS[name]}`);
      if (!NO_REPORTS.has(name))
        refuse(`a file in it has the root <${name.slice(0, LONGEST_NAME)}>, and is no JUnit XML`);
      isIgnored = true;
      return ignored(name);
    }
    if (hasDoctype) refuse('a file in it declares a document type');
    if (++depth > MOST_DEPTH) refuse(`elements in it are nested more than ${MOST_DEPTH} deep`);
    const attribute = (of: string) => (Object.hasOwn(given, of) ? String(given[of]) : '').slice(0, LONGEST_NAME);
    const inner = open.at(-1);
    const result = Object.hasOwn(RESULTS, name) ? RESULTS[name] : undefined;
    if (isHolder(name)) {
      const title = [attribute('classname'), attribute('name')].filter((part) => part !== '').join('.');
      const test: Omit<Test, 'properties'> = { name: title, file: attribute('file'), result: resultOf(attribute) };
      open.push({ properties: new Map(), before: properties, test: name === 'testcase' ? test : undefined });
      isJunit = true;
    } else if (inner?.test && result && inner.test.result !== 'failed') inner.test.result = result;
    else if (inner && name === 'property' && attribute('name').startsWith('pm_')) {
      if (++properties > MOST_PROPERTIES) refuse(`a test in it has more than ${MOST_PROPERTIES} properties`);
      const before = inner.properties.get(attribute('name')) ?? [];
      inner.properties.set(attribute('name'), [...before, attribute('value').trim().slice(0, LONGEST_VALUE)]);
    }
  };
  parser.onclosetag = (name) => {
    if (isIgnored) return;
    depth--;
    if (!isHolder(name)) return;
    const { test, before = 0 } = open.at(-1) ?? {};
    if (test) found({ ...test, properties: new Map(open.flatMap((holder) => [...holder.properties])) });
    open.pop();
    properties = before;
  };

  function decoded(piece?: Uint8Array): string {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      return refuse('a file in it is not UTF-8');
    }
  }
  return {
    write(piece) {
      if (!isIgnored) parser.write(decoded(piece));
    },
    end() {
      if (isIgnored) return;
      parser.write(decoded()).close();
      if (!isJunit) refuse('a file in it is not JUnit XML');
    },
  };
}

const isHolder = (name: string) => name === 'testsuite' || name === 'testsuites' || name === 'testcase';

/** The result of a test without an element that says otherwise. */
function resultOf(attribute: (of: string) => string): Test['result'] {
  const said = [
    attribute('status'),
    attribute('result'),
    /^(true|1|yes)$/i.test(attribute('disabled')) ? 'disabled' : '',
  ];
  if (said.some((word) => HAS_FAILED.test(word))) return 'failed';
  return said.every((word) => WAS_RUN.test(word)) ? 'passed' : 'skipped';
}

import sax from 'sax';
import { ReportFault } from './report-fault.ts';

/** A test in a report. */
export interface Test {
  /** `<class name>.<name>` */
  name: string;
  file: string | undefined;
  result: 'passed' | 'failed' | 'skipped';
  /** Those of the test, and of its suites where it has none of that name. */
  properties: ReadonlyMap<string, readonly string[]>;
}

const MOST_DEPTH = 64;
const MOST_ATTRIBUTES = 64;
const MOST_PROPERTIES = 200;
/** Only these are kept. */
const OWN_PROPERTY = /^pm_[a-z]{1,20}$/;
const LONGEST_VALUE = 64;
const LONGEST_NAME = 500;

const isTestsOrSuite = (name: string) => name === 'testsuite' || name === 'testsuites' || name === 'testcase';

interface Open {
  name: string;
  properties: Map<string, string[]>;
  /** Of a test. */
  test?: { name: string; file: string | undefined; result: Test['result'] };
}

/**
 * Reads JUnit XML as it comes: the elements and attributes that test runners agree on. It has no schema of its own.
 * Every declaration of a document type is refused, so there are no entities but those that are a character.
 * https://github.com/testmoapp/junitxml
 *
 * @param found is called for each test at its end
 */
export function createJunitReader(found: (test: Test) => void): { write(piece: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // It bounds texts and attributes, which it does by the position only.
  const parser = sax.parser(true, { position: true });
  const open: Open[] = [];
  let depth = 0;
  let attributes = 0;
  let properties = 0;
  let suites = 0;

  const refuse = (why: string): never => {
    throw new ReportFault(why);
  };
  parser.onerror = () => refuse('a file in it is not XML that can be read');
  parser.ondoctype = () => refuse('a file in it declares a document type');
  parser.onopentagstart = () => {
    attributes = 0;
  };
  parser.onattribute = () => {
    if (++attributes > MOST_ATTRIBUTES) refuse(`an element in it has more than ${MOST_ATTRIBUTES} attributes`);
  };
  parser.onopentag = ({ name, attributes: given }) => {
    if (++depth > MOST_DEPTH) refuse(`elements in it are nested more than ${MOST_DEPTH} deep`);
    const attribute = (of: string) => (Object.hasOwn(given, of) ? String(given[of]) : undefined);
    const inner = open.at(-1);
    if (isTestsOrSuite(name)) {
      suites++;
      const title = [attribute('classname'), attribute('name')].filter(Boolean).join('.').slice(0, LONGEST_NAME);
      const file = (attribute('file') ?? inner?.test?.file)?.slice(0, LONGEST_NAME);
      const test = { name: title, file, result: 'passed' as const };
      open.push({ name, properties: new Map(), ...(name === 'testcase' && { test }) });
    } else if (inner?.test && (name === 'failure' || name === 'error')) inner.test.result = 'failed';
    else if (inner?.test && name === 'skipped' && inner.test.result === 'passed') inner.test.result = 'skipped';
    else if (inner && name === 'property') {
      const [property = '', value = ''] = [attribute('name'), attribute('value')];
      if (!OWN_PROPERTY.test(property)) return;
      if (++properties > MOST_PROPERTIES) refuse(`a test in it has more than ${MOST_PROPERTIES} properties`);
      inner.properties.set(property, [
        ...(inner.properties.get(property) ?? []),
        value.trim().slice(0, LONGEST_VALUE + 1),
      ]);
    }
  };
  parser.onclosetag = (name) => {
    depth--;
    if (!isTestsOrSuite(name)) return;
    const { test } = open.at(-1) ?? {};
    if (test) found({ ...test, properties: inherited(open) });
    open.pop();
    properties = 0;
  };

  return {
    write: (piece) => void parser.write(decoded(piece)),
    end() {
      parser.write(decoded()).close();
      if (suites === 0) refuse('a file in it is not JUnit XML');
    },
  };

  function decoded(piece?: Uint8Array): string {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      return refuse('a file in it is not UTF-8');
    }
  }
}

function inherited(open: readonly Open[]): Test['properties'] {
  return new Map(open.flatMap(({ properties }) => [...properties]));
}

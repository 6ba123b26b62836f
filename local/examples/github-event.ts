import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { unknownName } from '../../lib/faults/fault.ts';
import { nearMiss } from '../../lib/near-miss.ts';
import { parsedJson } from '../../lib/text.ts';

/** Describes an example event. Without any field, it is a new issue. */
export interface WantedEvent {
  /** `issues`, `issue_comment`, `pull_request`. Default: the event that the other fields need. */
  event?: string | undefined;
  action?: string | undefined;
  /** The number of an existing issue. */
  issue?: number | undefined;
  /** The text of the comment, or the description of the pull request or issue. */
  body?: string | undefined;
  /** The issue's labels, instead of the example's. */
  labels?: readonly string[] | undefined;
  /** Whether the pull request was merged now. */
  merged?: boolean | undefined;
  /** `owner/name`, instead of the example's repository. */
  repository?: string | undefined;
  /** Fields of the payload with their values: `deployment_status.state=failure`. */
  set?: readonly string[] | undefined;
}

type Payload = Record<string, unknown>;
type Fields = Record<string, unknown>;

interface Example extends Payload {
  action?: string;
}

/** The lowest invented number, high enough not to look real. */
const FIRST_INVENTED = 100_000;
/** Issues, pull requests and comments get ids above those of GitHub's examples. */
const FIRST_ISSUE_ID = 4_000_000_000;
const FIRST_PULL_REQUEST_ID = 5_000_000_000;
const FIRST_COMMENT_ID = 6_000_000_000;
const FIRST_OTHER_ID = 7_000_000_000;
const FIRST_REPOSITORY_ID = 8_000_000_000;

/** The repository of most of GitHub's examples, and its owner. */
export const EXAMPLE_REPOSITORY = 'Codertocat/Hello-World';
const EXAMPLE_REPOSITORY_ID = 186_853_002;
const EXAMPLE_OWNER_ID = 21_031_067;

const repositoryName = /^[\w.-]+\/[\w.-]+$/;

/** When an example happens (ISO 8601), and the number of its new issue or pull request. */
type NewExample = { time: string; number: number };

/**
 * An event in GitHub's format, made from `@octokit/webhooks-examples`. By default, it happens now, and its issue,
 * comment or pull request is new. An issue with a given number may exist already.
 *
 * @throws {Error} if the fields do not fit together, or there is no such example; the message says what is possible
 */
export function exampleEvent(
  wanted: WantedEvent,
  now = Date.now(),
  number = inventedNumber(),
): { event: string; payload: Payload } {
  const made: NewExample = { time: `${new Date(now).toISOString().slice(0, 19)}Z`, number };
  const event = wanted.event ?? eventFor(wanted);
  refuseNonsense(event, wanted);
  const payload = payloadOf(event, wanted, made);
  for (const one of wanted.set ?? []) setField(payload, one);
  return { event, payload };
}

function payloadOf(event: string, wanted: WantedEvent, made: NewExample): Payload {
  const example = inRepository(findExample(event, wanted), wanted.repository);
  switch (event) {
    case 'issues':
      return ofIssue(example, wanted, made);
    case 'issue_comment':
      return ofComment(example, wanted, made);
    case 'pull_request':
      return ofPullRequest(example, wanted, made);
    default:
      return ofOther(event, example, made);
  }
}

function eventFor({ body, merged, labels, action }: WantedEvent): string {
  if (merged) return 'pull_request';
  return body !== undefined && labels === undefined && action === undefined ? 'issue_comment' : 'issues';
}

/** The option of each field, and the events that have the field. */
const TAKEN_BY: readonly [keyof WantedEvent, option: string, ...events: string[]][] = [
  ['issue', '--issue', 'issues', 'issue_comment'],
  ['body', '--body', 'issues', 'issue_comment', 'pull_request'],
  ['labels', '--label', 'issues'],
  ['merged', '--merged', 'pull_request'],
];

function refuseNonsense(event: string, wanted: WantedEvent): void {
  for (const [field, option, ...events] of TAKEN_BY) {
    const given = wanted[field] !== undefined && wanted[field] !== false;
    if (given && !events.includes(event))
      throw new Error(`${option} is only for ${events.join(', ')}; for '${event}', use --set <field>=<value>`);
  }
  if (wanted.merged && wanted.action !== undefined && wanted.action !== 'closed') {
    throw new Error(`--merged is a pull request with the action closed, so leave out --action ${wanted.action}`);
  }
  if (wanted.repository !== undefined && !repositoryName.test(wanted.repository)) {
    throw new Error(`--repo is '${wanted.repository}'; expected owner/name, such as acme/web`);
  }
}

function findExample(event: string, { action, merged }: WantedEvent): Example {
  const path = createRequire(import.meta.url).resolve('@octokit/webhooks-examples/api.github.com/index.json');
  const all = JSON.parse(readFileSync(path, 'utf8')) as { name: string; examples: Example[] }[];
  const examples = all.find(({ name }) => name === event)?.examples;
  if (!examples)
    throw new Error(
      unknownName(
        'there is no example of',
        event,
        all.map(({ name }) => name),
      ),
    );
  const wanted = merged ? 'closed' : (action ?? (event === 'issues' ? 'opened' : undefined));
  const found = wanted === undefined ? examples[0] : examples.find((one) => one.action === wanted);
  const example = found ?? (event === 'issues' && wanted === 'closed' ? closedIssue(examples) : undefined);
  if (example) return example;
  const actions = new Set([...examples.map((one) => one.action), ...(event === 'issues' ? ['closed'] : [])]);
  const known = [...actions].flatMap((one) => one ?? []);
  throw new Error(unknownName(`there is no example of '${event}' with the action`, String(action), known));
}

/** The examples have no closed issue, so this closes an opened one. */
function closedIssue(examples: readonly Example[]): Example | undefined {
  const opened = examples.find((one) => one.action === 'opened');
  const closed = { state: 'closed', state_reason: 'completed' };
  return opened && { ...opened, action: 'closed', issue: { ...fieldsOf(opened.issue), ...closed } };
}

function inRepository(example: Example, name: string | undefined): Example {
  const { repository } = example;
  if (name === undefined || repository === undefined) return example;
  const { full_name: from, id, owner } = fieldsOf(repository);
  const wanted = idOf(name);
  if (id === wanted) return example;
  // The name is part of many URLs, and needs no escaping in JSON. The ids change, too: otherwise it would be the
  // example's repository, renamed, or one with the same name and another owner.
  const text = JSON.stringify(example).replaceAll(String(from), name);
  const renamed = JSON.parse(text.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), String(wanted))) as Example;
  const [login, repositoryName] = name.split('/');
  return {
    ...renamed,
    repository: {
      ...fieldsOf(renamed.repository),
      name: repositoryName,
      owner: { ...fieldsOf(owner), login, id: EXAMPLE_OWNER_ID },
    },
  };
}

/** The id of a repository, invented for all but the examples', and always the same for a name. GitHub ignores the case of names. */
function idOf(name: string): number {
  if (name.toLowerCase() === EXAMPLE_REPOSITORY.toLowerCase()) return EXAMPLE_REPOSITORY_ID;
  return FIRST_REPOSITORY_ID + createHash('sha256').update(name.toLowerCase()).digest().readUInt32BE();
}

function ofIssue(example: Example, { issue: number, labels, body }: WantedEvent, made: NewExample): Payload {
  const issue = numbered(fieldsOf(example.issue), { ...made, number: number ?? made.number });
  // GitHub's example still contains the removed label.
  const kept = example.action === 'unlabeled' ? [] : issue.labels;
  const own = labels?.map((name) => ({ name, color: 'ededed', default: false, description: null }));
  const edited = example.action === 'edited' && { title: `${issue.title} (edited at ${made.time})` };
  const changed = example.action === 'labeled' || example.action === 'unlabeled' ? own?.at(-1) : undefined;
  return {
    ...example,
    ...(changed && { label: changed }),
    issue: {
      ...issue,
      ...edited,
      labels: example.action === 'unlabeled' ? kept : (own ?? kept),
      ...(body !== undefined && { body }),
    },
  };
}

function ofComment(example: Example, { issue: number, body }: WantedEvent, made: NewExample): Payload {
  const issue = fieldsOf(example.issue);
  const comment = fieldsOf(example.comment);
  const id = FIRST_COMMENT_ID + made.number;
  const place = String(comment.html_url).replace(
    /issues\/\d+#.*/,
    `issues/${number ?? issue.number}#issuecomment-${id}`,
  );
  return {
    ...example,
    issue: number === undefined ? issue : numbered(issue, { ...made, number }),
    // The examples are from 2019, and the relay ignores events that GitHub could no longer deliver.
    comment: {
      ...comment,
      id,
      html_url: place,
      created_at: made.time,
      updated_at: made.time,
      ...(body !== undefined && { body }),
    },
  };
}

function ofPullRequest(example: Example, { merged, body }: WantedEvent, made: NewExample): Payload {
  const { number } = made;
  const pull = fieldsOf(example.pull_request);
  const outcome = merged && {
    state: 'closed',
    merged: true,
    closed_at: made.time,
    merged_at: made.time,
    merged_by: pull.user,
  };
  return {
    ...example,
    number,
    pull_request: {
      ...pull,
      ...outcome,
      ...(body !== undefined && { body }),
      id: FIRST_PULL_REQUEST_ID + number,
      number,
      html_url: String(pull.html_url).replace(/\d+$/, String(number)),
      // Checks belong to a commit.
      head: { ...fieldsOf(pull.head), sha: String(number).padStart(40, '0') },
      updated_at: made.time,
    },
  };
}

/**
 * Sets a field of a payload.
 * @param given the path and the value: `deployment_status.state=failure`. The value stays a text where the payload has
 *   one; elsewhere it is read as JSON
 * @throws {Error} if the payload has no such field
 */
function setField(payload: object, given: string): void {
  const [, path = '', value = ''] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
  const [field = '', ...above] = path.split('.').reverse();
  if (field === '') throw new Error(`--set '${given}': expected a field and its value, such as issue.title=Login`);
  let parent: object = payload;
  for (const name of above.reverse()) parent = fieldsOf(ownField(parent, name, path));
  const known = Object.keys(parent);
  const meant = known.includes(field) ? undefined : nearMiss(field, known);
  if (meant !== undefined) throw new Error(`the example has no field ${path}; did you mean '${meant}'?`);
  const isText = typeof Object(parent)[field] === 'string';
  Object.assign(parent, { [field]: isText ? value : (parsedJson(value) ?? value) });
}

function ownField(parent: object, name: string, path: string): unknown {
  if (Object.hasOwn(parent, name)) return Object(parent)[name];
  throw new Error(`the example has no field ${path}: ${unknownName('there is no', name, Object.keys(parent))}`);
}

/** The field of an event's payload with the thing it is about: `release`, or `review` for a pull_request_review. */
export function subjectOf(event: string, payload: Payload): string | undefined {
  const names = [event, event.replace(/s$/, ''), event.split('_').at(-1) ?? ''];
  return names.find((name) => 'id' in fieldsOf(payload[name]));
}

/** Replaces the thing the event is about with a new one, unless it existed before the event. */
function ofOther(event: string, example: Example, { time, number }: NewExample): Payload {
  const name = subjectOf(event, example);
  if (name === undefined || name === 'repository') return example;
  const about = fieldsOf(example[name]);
  const times = Object.keys(about).filter((field) => field.endsWith('_at') && typeof about[field] === 'string');
  const now = Object.fromEntries(times.map((field) => [field, time]));
  return { ...example, [name]: { ...about, id: FIRST_OTHER_ID + number, ...now } };
}

function numbered(issue: Fields, made: NewExample): Fields {
  const url = String(issue.html_url).replace(/\d+$/, String(made.number));
  return { ...issue, id: FIRST_ISSUE_ID + made.number, number: made.number, html_url: url, updated_at: made.time };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function inventedNumber(): number {
  return FIRST_INVENTED + Math.floor(Math.random() * 9 * FIRST_INVENTED);
}

import type { Payloads } from '../../lib/service/partner/operations/operations.ts';
import type { ChecklistItem, Defect, Project, Task, TestScenario, Timelog, User } from '../../sandbox/records.ts';
import type { WantedEvent } from '../examples/github-event.ts';

/** The fields that matter: their values, or what their text looks like. */
export type ExpectedFields<P = Record<string, unknown>> = { [F in keyof P]?: P[F] | RegExp };

/** What the relay asks of the service apart from reading, by operation; several requests of one as a list. */
export type ExpectedCalls = {
  [N in keyof Payloads]?: ExpectedFields<Payloads[N]> | ExpectedFields<Payloads[N]>[];
};

/** What may happen. */
export type TestEvent =
  /**
   * One of GitHub's examples, changed as by the options of `partner-relay send`, in the first repository of the configuration
   * unless it names another.
   */
  | WantedEvent
  /** The payload of a delivery of GitHub, in a file beside the tests. */
  | { event: string; file: string }
  /**
   * A command of Slack without its first word: `block 4711 waits for the certificate`. People and channels are those of
   * the stand-in: by default, Mira Novak gives it in `#general`.
   */
  | { command: string; by?: string; channel?: string }
  /** A schedule of an own automation, by the name of its file, at a time that is due: ISO 8601. */
  | { schedule: string; at: string }
  /** A webhook of an own automation, by the name of its file. It is signed with a secret of the test. */
  | { hook: string; body: object; headers?: Readonly<Record<string, string>> };

/** What there is before anything happens, beside what the sandbox has. */
export interface GivenWorld {
  /** What GitHub answers to the step `github`, by the path without its query: `'/repos/acme/web/pulls': […]`. */
  github?: Readonly<Record<string, unknown>>;
  /** Fields that are left out are those of the sandbox's first record of the kind. */
  tasks?: readonly Partial<Task>[];
  users?: readonly Partial<User>[];
  timelogs?: readonly Partial<Timelog>[];
}

/** The records that a test can look at. */
interface Records {
  projects: Project;
  tasks: Task;
  timelogs: Timelog;
  defects: Defect;
  testScenarios: TestScenario;
  checklistItems: ChecklistItem;
}

/** Records of the service, by their kind. */
export type ExpectedRecords = { [K in keyof Records]?: readonly ExpectedFields<Records[K]>[] };

/** An event, and what shall come of it under relay.config.ts and with the files in automations/. */
export interface RelayTest {
  given?: GivenWorld;
  /** What happened before, in its order. Jobs of an event are done before the next one. */
  before?: readonly TestEvent[];
  event: TestEvent;
  /** What people answer, by the names of the steps that ask: the text of a button, or what an operator writes. */
  answers?: Readonly<Record<string, string>>;
  /** When the first event happens: ISO 8601. By default on Monday, 5 January 2026, at 10:00 UTC, or when the event says. */
  at?: string;
  /** Exactly these requests behind `event`, of at least one job, or nothing at all: no comment either. */
  makes: ExpectedCalls | 'nothing';
  /** The messages in Slack, and the comments on GitHub, that have these texts in them. Others may come besides. */
  says?: readonly (string | RegExp)[];
  /** Exactly these new records in the service at the end, also those that events in `before` made. */
  holds?: ExpectedRecords;
}

/** The tests of a file for `partner-relay test`, by what they say. */
export const defineTests = (tests: Readonly<Record<string, RelayTest>>): typeof tests => tests;

import type * as z from 'zod';
import type { $ZodType } from 'zod/v4/core';
import type { Declared } from '../service/partner/operations/operations.ts';
import type { Trigger } from './trigger.ts';

/** A value that a step can keep: the journal stores it as JSON and returns it unchanged. A `Date` would change. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json | undefined };

type EffectOf<Name extends keyof Declared> = Declared[Name]['effect'];
/** The names of the operations with one of these effects. */
export type WithEffect<Effect> = { [N in keyof Declared]: EffectOf<N> extends Effect ? N : never }[keyof Declared];
type Calls = WithEffect<'read' | 'repeatable'>;
type Creates = WithEffect<'create'>;
type PayloadOf<Name> = Name extends keyof Declared ? z.input<Declared[Name]['payload']> : never;
type DataOf<Name> = Name extends keyof Declared ? z.output<Declared[Name]['data']> : never;

/** The names of the operations that return a list. */
export type Lists = {
  [N in keyof Declared]: Declared[N] extends { effect: 'read' }
    ? DataOf<N> extends readonly unknown[]
      ? N
      : never
    : never;
}[keyof Declared];
type RowOf<Name> = DataOf<Name> extends readonly (infer Row)[] ? Row : never;

/** Any name, so that a wrong one is reported by {@link Named}. Editors suggest the right ones. */
type Any<Right extends string> = Right | (string & {});
type StepFor<N extends keyof Declared> = N extends Lists
  ? 'list'
  : { create: 'create'; unknown: 'send'; read: 'call'; repeatable: 'call' }[EffectOf<N>];
type Near<Name, Right> = Name extends `${infer Kind}/${string}` ? Extract<Right, `${Kind}/${string}`> : never;
/** The name of an operation. For a wrong name, the compiler shows the right names of its kind, or what is wrong. */
export type Named<Name extends string, Right extends string> = Name extends Right
  ? Name
  : Name extends keyof Declared
    ? `${Name} is called with ${StepFor<Name>}()`
    : [Near<Name, Right>] extends [never]
      ? `there is no operation '${Name}'`
      : Near<Name, Right>;

/** The person who gave a command. */
export interface Asker {
  in: 'slack' | 'github';
  /** The user's id in Slack, or the login on GitHub. */
  id: string;
  /**
   * The name that people know: the display name in Slack, such as `Mira Novak`, or the login on GitHub, such as
   * `@octocat`.
   */
  name: string;
  /** When the person gave the command: ISO 8601 in UTC. */
  at: string;
  /** The date of `at` in the person's time zone: `2026-11-23`. */
  date: string;
}

/** A person's user in the service, or a sentence that says why the user is unknown and who can help. */
export type Matched =
  | { user: { id: string | number; name: string }; why?: undefined }
  | { user?: undefined; why: string };

/** A task of the service. */
export interface Task {
  id: string | number;
  name: string;
}

/** A link in a message. Its text is shown instead of the address. */
export interface Link {
  text: string;
  /** Begins with `https://` or `http://`. */
  url: string;
}

/** A key that all jobs of a connection share, such as the id of an alert, or a date. */
export interface ForKey {
  for: string | number;
}

/** A possible answer: a text for its button, or a value with the button's text. */
export type Choice = string | { text: string; value: Json };
type ValueOf<C extends Choice> = C extends { value: infer Value } ? Value : C;

/** The recipient of a Slack message: a channel, the person with this address, or the person who gave the command. */
export type Recipient = { channel: string } | { email: string } | 'asker';

/**
 * The calls that an automation makes. Each step is carried out once per job, even after a crash: its result comes back
 * from the journal, while the code between the steps may run again. Steps run one after the other.
 *
 * The first argument names the step, with at most 200 characters, differently from all other steps of the run: a
 * literal, or a literal with an id. The relay itself uses names with a colon and a space, and `list 1` beside a list of
 * that name. After a temporary failure (429, 5xx, no answer), the relay waits and tries again. A step that throws ends
 * the run, even if the code catches the error, because the step's result is not known yet.
 */
export interface Steps {
  /** `dev`, `prod`, or `local` on one machine. */
  stage: string;
  /**
   * Calls an operation that may be repeated.
   *
   * @param keep returns the part of the answer to keep; at most 32 KB
   */
  call<N extends Any<Calls>>(step: string, operation: Named<N, Calls>, payload: PayloadOf<N>): Promise<void>;
  call<N extends Any<Calls>, Kept extends Json>(
    step: string,
    operation: Named<N, Calls>,
    payload: PayloadOf<N>,
    keep: (data: DataOf<N>) => Kept,
  ): Promise<Kept>;
  /**
   * Reads a list page by page.
   *
   * @param keep returns the part of a row to keep, or undefined to leave the row out
   * @param of.part `true` to accept an incomplete list; otherwise it parks the job
   */
  list<N extends Any<Lists>, Kept extends Json>(
    step: string,
    operation: Named<N, Lists>,
    payload: PayloadOf<N>,
    keep: (row: RowOf<N>) => Kept | undefined,
    of?: { part?: boolean },
  ): Promise<Kept[]>;
  /**
   * Calls an operation that creates something, never twice. If the operation's declaration says how to find what it
   * creates (`found`), the relay adds a marker to that field, and searches for it after a lost answer:
   * `projects/create`, `defects/create` and `timelogs/create` have this. For the others, a lost answer parks the job,
   * and a person decides.
   *
   * @param of.for a key. The first job with this step name and key creates the object, and the others get its id
   */
  create<N extends Any<Creates>>(
    step: string,
    operation: Named<N, Creates>,
    payload: PayloadOf<N>,
    of?: ForKey,
  ): Promise<{ id: string | number }>;
  /**
   * Returns the id that `create` has made for a key in any job; undefined if there is none. Waits while another job
   * creates it.
   *
   * @param name the first argument of that `create`
   */
  found(name: string, key: ForKey['for']): Promise<string | number | undefined>;
  /**
   * Releases the key of a `create` or `say`, so that the next one makes another. Nothing changes in the service or in
   * Slack.
   */
  letGo(name: string, key: ForKey['for']): Promise<void>;
  /**
   * Calls an operation of unknown effect, or any other path of the partner API, once. A lost answer parks the job, and
   * a person decides.
   */
  send<P extends string>(
    step: string,
    path: P extends Calls | Creates ? `${P} is called with ${StepFor<P>}()` : P,
    payload: P extends keyof Declared ? PayloadOf<P> : { readonly [field: string]: Json | undefined },
  ): Promise<void>;
  /**
   * Sends a message in Slack. Its text is plain: addresses become links, and nothing else is markup. For a link with
   * its own text, pass a list: `['See ', { text: 'the alert', url }]`. Text after 3,000 characters is replaced by `…`.
   *
   * @param of.for a key. A later job with this step name and key changes the first job's message, wherever `to` is now.
   *   The text of an older event changes nothing. If the message was deleted, or Slack refuses the change, it is posted
   *   again
   */
  say(step: string, to: Recipient, text: string | readonly (string | Link)[], of?: ForKey): Promise<void>;
  /** Writes a comment on an issue or pull request of a repository in relay.config.ts. Its text is plain. */
  comment(step: string, on: { repository: string; issue: number }, text: string): Promise<void>;
  /**
   * Reads from GitHub, with the rights of the App or the token.
   *
   * @param path a path of the API, for a repository in relay.config.ts: `/repos/acme/web/releases/latest`
   * @param keep the part of the answer to keep, as a schema of `zod/mini`; at most 32 KB
   */
  github<Kept extends Json>(step: string, path: string, keep: $ZodType<Kept>): Promise<Kept>;
  /**
   * Finds the task that people mean with an id or a name. If that is not certain, the person who gave the command in
   * Slack chooses one within an hour. Otherwise the job ends and tells them why.
   *
   * @param of.rest `true` if a note may follow the name: `Login with passkeys waits for the certificate`
   */
  task(step: string, text: string): Promise<Task>;
  task(step: string, text: string, of: { rest: true }): Promise<Task & { rest: string }>;
  /**
   * Waits until a time from 2000 to 2100: epoch milliseconds, or ISO 8601, in UTC unless it has a zone. A later run
   * waits until the same time.
   */
  until(step: string, time: string | number): Promise<void>;
  /**
   * Parks the job until a person continues it with `npx partner-relay replay <job> --reason <answer>`, or discards it.
   * @returns that person and their answer
   */
  ask(step: string, question: string): Promise<{ by: string; answer: string }>;
  /**
   * Asks people in Slack, with a button for each choice, and waits for the first answer. Only the person who gave the
   * command, or who has that address, can answer; in a channel, everybody whom `slack.access` admits.
   *
   * @param of.choices 1 to 25. The text of a button is cut after 75 characters
   * @param of.until the last time for an answer, within seven days: a time as for `until`, or a number of hours
   * @returns the person who answered, and their choice; without an answer, `of.default`
   */
  ask<const C extends Choice, const Default extends Json | undefined = undefined>(
    step: string,
    question: string,
    of: { to?: Recipient; choices: readonly C[]; until: string | number | { hours: number }; default?: Default },
  ): Promise<{ by: string; answer: ValueOf<C> } | { by: undefined; answer: Default }>;
  /** Ends the job as not done, and tells the person who asked why. */
  stop(why: string): never;
}

/**
 * The additional steps of a command. If `mcp.accounts` is `required`, the relay does not use its key for people:
 * `call`, `list`, `create`, `send`, `task` and `user` end the job, and tell them why.
 */
export interface CommandSteps extends Steps {
  asker: Asker;
  /**
   * Returns the user of the service for the person who gave the command, by their address or by `people` in
   * relay.config.ts.
   */
  user(step: string): Promise<Matched>;
  /**
   * Calls a tool as the person who gave the command, with their linked account. If they have none, the job ends and
   * tells them how to link it. A tool that changes something is called at most once.
   *
   * @param call the tool's name, and the hash of its schema from `npx partner-relay mcp doctor`; a changed tool is not
   *   called
   * @param keep returns the part of the answer to keep, sealed for that person; at most 32 KB
   */
  as<Kept extends Json>(
    step: string,
    call: { tool: string; schema: string; arguments: Readonly<Record<string, unknown>>; changes: boolean },
    keep: (answer: { texts: readonly string[]; structured?: unknown }) => Kept,
  ): Promise<Kept>;
}

/**
 * The steps of an automation: `export const run: Run<typeof on> = async (input, steps) => …`. It returns in a few words
 * what was done; the person who gave a command reads them.
 */
export type Run<On extends Trigger<string, unknown>> = (
  input: On extends Trigger<string, infer Input> ? Input : never,
  steps: On extends { kind: 'command' } ? CommandSteps : Steps,
) => Promise<string>;

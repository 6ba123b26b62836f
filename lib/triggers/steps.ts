import type * as z from 'zod';
import type { $ZodType } from 'zod/v4/core';
import type { Declared } from '../service/partner/operations/operations.ts';
import type { Trigger } from './trigger.ts';

/** What a step keeps is journaled as JSON, and comes back the same. A `Date` would not. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json | undefined };

type EffectOf<Name extends keyof Declared> = Declared[Name]['effect'];
/** The names of the operations that have one of these effects. */
export type WithEffect<Effect> = { [N in keyof Declared]: EffectOf<N> extends Effect ? N : never }[keyof Declared];
type Calls = WithEffect<'read' | 'repeatable'>;
type Creates = WithEffect<'create'>;
type PayloadOf<Name> = Name extends keyof Declared ? z.input<Declared[Name]['payload']> : never;
type DataOf<Name> = Name extends keyof Declared ? z.output<Declared[Name]['data']> : never;

/** The names of the operations that list something. */
export type Lists = {
  [N in keyof Declared]: Declared[N] extends { effect: 'read' }
    ? DataOf<N> extends readonly unknown[]
      ? N
      : never
    : never;
}[keyof Declared];
type RowOf<Name> = DataOf<Name> extends readonly (infer Row)[] ? Row : never;

/** Any name, so that one which is not right gets to {@link Named}. Editors offer the right ones. */
type Any<Right extends string> = Right | (string & {});
type StepFor<N extends keyof Declared> = N extends Lists
  ? 'list'
  : { create: 'create'; unknown: 'send'; read: 'call'; repeatable: 'call' }[EffectOf<N>];
type Near<Name, Right> = Name extends `${infer Kind}/${string}` ? Extract<Right, `${Kind}/${string}`> : never;
/** The name of an operation. In place of any other, the right names of its kind, or what is wrong, as the compiler shows it. */
export type Named<Name extends string, Right extends string> = Name extends Right
  ? Name
  : Name extends keyof Declared
    ? `${Name} is called with ${StepFor<Name>}()`
    : [Near<Name, Right>] extends [never]
      ? `there is no operation '${Name}'`
      : Near<Name, Right>;

/** Who gave a command. */
export interface Asker {
  in: 'slack' | 'github';
  /** The id of the user in Slack, or the login on GitHub. */
  id: string;
  /** The name that people know: the display name in Slack, `Mira Novak`, or the login on GitHub, `@octocat`. */
  name: string;
  /** When they gave the command: ISO 8601, in UTC. */
  at: string;
  /** The day that this was for them: `2026-11-23`. */
  date: string;
}

/** The user of the service that a person is, or a sentence that says why that is not known, and who can help. */
export type Matched =
  | { user: { id: string | number; name: string }; why?: undefined }
  | { user?: undefined; why: string };

/** A task of the service. */
export interface Task {
  id: string | number;
  name: string;
}

/** A link in a message. Its text is shown in place of the address. */
export interface Link {
  text: string;
  /** `https://…` */
  url: string;
}

/** What something is for, as all jobs of a connection name it: the id of an alert, a date. */
export interface ForKey {
  for: string | number;
}

/** What people can answer: a text, which is on its button, or a value with the text of its button. */
export type Choice = string | { text: string; value: Json };
type ValueOf<C extends Choice> = C extends { value: infer Value } ? Value : C;

/** Where a message in Slack goes: a channel, the person with that address, or the person who gave the command. */
export type Recipient = { channel: string } | { email: string } | 'asker';

/**
 * What an automation does outside. Each step is carried out once per job, also after a crash: what it keeps comes back
 * from the journal, and the code between the steps may run again. Steps run one after the other.
 *
 * The first argument is the name of the step, at most 200 characters, which no other step of the run has: a literal, or a
 * literal with an id. A colon with a space behind it, and `list 1` beside a list of that name, are names that the relay gives.
 * What the service or a platform answers for now (429, 5xx, no answer) is waited for and tried again. A step that throws
 * ends the run, also if the code catches that: it does not know yet what the step comes to.
 */
export interface Steps {
  /** `dev`, `prod`, or `local` on one machine. */
  stage: string;
  /**
   * Calls an operation that may be repeated.
   *
   * @param keep the part of the answer that comes back; at most 32 KB
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
   * @param keep the part of a row that comes back, or undefined to leave it out
   * @param of.part `true` to take what there is of a list that does not come whole; otherwise the job parks then
   */
  list<N extends Any<Lists>, Kept extends Json>(
    step: string,
    operation: Named<N, Lists>,
    payload: PayloadOf<N>,
    keep: (row: RowOf<N>) => Kept | undefined,
    of?: { part?: boolean },
  ): Promise<Kept[]>;
  /**
   * Calls an operation that creates something, never twice. Where its declaration says how to find what it creates
   * (`found`), a marker is added to that field, and after a lost answer the relay looks for it. `projects/create`,
   * `defects/create` and `timelogs/create` have that. For the others, a lost answer parks the job, and a person decides.
   *
   * @param of.for a key. Of all jobs that come with this name and key, the first creates it, and the others get its id
   */
  create<N extends Any<Creates>>(
    step: string,
    operation: Named<N, Creates>,
    payload: PayloadOf<N>,
    of?: ForKey,
  ): Promise<{ id: string | number }>;
  /**
   * The id of what `create` has made for a key, by whichever job; undefined if there is nothing. While another job makes it,
   * this job waits.
   *
   * @param name the first argument of that `create`
   */
  found(name: string, key: ForKey['for']): Promise<string | number | undefined>;
  /** Ends what `create` or `say` has made for a key: the next one makes another. Nothing changes in the service or in Slack. */
  letGo(name: string, key: ForKey['for']): Promise<void>;
  /**
   * Calls an operation whose effect is unknown, or any other path of the partner API, once. After a lost answer the job
   * parks, and a person decides.
   */
  send<P extends string>(
    step: string,
    path: P extends Calls | Creates ? `${P} is called with ${StepFor<P>}()` : P,
    payload: P extends keyof Declared ? PayloadOf<P> : { readonly [field: string]: Json | undefined },
  ): Promise<void>;
  /**
   * Sends a message in Slack. Its text is plain: addresses become links, and nothing else is markup. For a link with a text
   * of its own, give a list: `['See ', { text: 'the alert', url }]`. After 3,000 characters it is cut, and ends with `…`.
   *
   * @param of.for a key. A later job with this step and key changes the message of the first one, wherever `to` is now. The text
   * of an older event changes nothing. If somebody deleted the message, or Slack does not let it be changed, it is posted again
   */
  say(step: string, to: Recipient, text: string | readonly (string | Link)[], of?: ForKey): Promise<void>;
  /** Writes a comment on an issue or a pull request of a repository in relay.config.ts. Its text is plain. */
  comment(step: string, on: { repository: string; issue: number }, text: string): Promise<void>;
  /**
   * Reads from GitHub, with the rights of the App or the token.
   *
   * @param path below the API, for a repository in relay.config.ts: `/repos/acme/web/releases/latest`
   * @param keep the part of the answer that comes back, as a schema of `zod/mini`; at most 32 KB
   */
  github<Kept extends Json>(step: string, path: string, keep: $ZodType<Kept>): Promise<Kept>;
  /**
   * The task that people mean with an id or a name. If that is not certain, the person who gave the command in Slack chooses
   * one within an hour; otherwise the job ends and tells them why.
   *
   * @param of.rest `true` if a note may follow the name: `Login with passkeys waits for the certificate`
   */
  task(step: string, text: string): Promise<Task>;
  task(step: string, text: string, of: { rest: true }): Promise<Task & { rest: string }>;
  /** Waits until a time from 2000 to 2100: ISO 8601, without a zone in UTC, or epoch milliseconds. A later run waits until the same time. */
  until(step: string, time: string | number): Promise<void>;
  /**
   * Parks the job until a person lets it go on with `partner-relay replay <job> --reason <answer>`, or discards it.
   * @returns who that was, and what they wrote
   */
  ask(step: string, question: string): Promise<{ by: string; answer: string }>;
  /**
   * Asks people in Slack, with a button for each choice, and waits for the first answer. The person who gave the command, or
   * with that address, can answer; in a channel everybody whom `slack.access` admits.
   *
   * @param of.choices 1 to 25. The text of a button is cut after 75 characters
   * @param of.until when it ends without an answer, in seven days at the latest: a time as for `until`, or in so many hours
   * @returns who answered and what they chose; without an answer, `of.default`
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
 * What a command has besides. Where `mcp.accounts` is `required`, nothing is done with the key of the relay for a person:
 * `call`, `list`, `create`, `send`, `task` and `user` end the job, and tell them why.
 */
export interface CommandSteps extends Steps {
  asker: Asker;
  /** The user of the service who gave the command, by their address or by `people` in relay.config.ts. */
  user(step: string): Promise<Matched>;
  /**
   * Calls a tool as the person who gave the command, with the account that they linked. The job ends and tells them how
   * to link it if they did not. A tool that changes something is called once at most.
   *
   * @param call the name of the tool, and the hash of its schema as `partner-relay mcp doctor` shows it: a changed tool is not called
   * @param keep the part of the answer that comes back, sealed for that person; at most 32 KB
   */
  as<Kept extends Json>(
    step: string,
    call: { tool: string; schema: string; arguments: Readonly<Record<string, unknown>>; changes: boolean },
    keep: (answer: { texts: readonly string[]; structured?: unknown }) => Kept,
  ): Promise<Kept>;
}

/**
 * The steps of an automation: `export const run: Run<typeof on> = async (input, steps) => …`. It returns what was done, in
 * a few words; people who gave a command read it.
 */
export type Run<On extends Trigger<string, unknown>> = (
  input: On extends Trigger<string, infer Input> ? Input : never,
  steps: On extends { kind: 'command' } ? CommandSteps : Steps,
) => Promise<string>;

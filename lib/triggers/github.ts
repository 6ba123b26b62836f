import type { operations } from '@octokit/openapi-webhooks-types';
import { type Drafted, type Fields, type InputOf, inputOf, type Trigger } from './trigger.ts';

/** `pull-request/ready-for-review` is `pull_request.ready_for_review`. */
type Underscored<T extends string> = T extends `${infer A}-${infer B}` ? `${A}_${Underscored<B>}` : T;
type NameOf<T extends string> = T extends `${infer Event}/${infer Action}`
  ? `${Underscored<Event>}.${Underscored<Action>}`
  : Underscored<T>;
type Names = { [Key in keyof operations & string as NameOf<Key>]: Key };

/**
 * An event of GitHub, with its action if it has some: `push`, `release.published`.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
export type GithubEvent = keyof Names;

/** What GitHub sends with an event. One event is looked up by its name, because a union of all is too large to check. */
export type GithubPayload<Event extends GithubEvent> = Event extends GithubEvent
  ? operations[Names[Event]] extends { requestBody: { content: { 'application/json': infer Payload } } }
    ? Payload
    : never
  : never;

/** The people whose events count: those who may at least triage issues of the repository, or anyone. */
export type By = 'collaborators' | 'anyone';

export interface GithubTrigger<Event extends GithubEvent = GithubEvent, Input = unknown>
  extends Trigger<'github', Input> {
  events: readonly Event[];
  by: By;
  job(payload: GithubPayload<Event>): Drafted<Input>;
}

/**
 * Takes an event of the repositories in relay.config.ts.
 *
 * @param event its name and action, or several of them
 * @param of.input the fields that `run` gets; together at most 8 KB
 * @param of.by whose events count: `collaborators` by default. `anyone` lets people from outside cause calls, within
 *   `strangersShare` of the connection
 * @param of.job makes a job of the verified payload, several, or says why there is none. It is pure: it may run again
 */
export const github = <Event extends GithubEvent, F extends Fields>(
  event: Event | readonly Event[],
  { input, by = 'collaborators', job }: GithubOptions<Event, F>,
): GithubTrigger<Event, InputOf<F>> => ({
  kind: 'github',
  events: [event].flat() as Event[],
  by,
  input: inputOf(input),
  job,
});

interface GithubOptions<Event extends GithubEvent, F extends Fields> {
  input: F;
  by?: By;
  job(payload: GithubPayload<Event>): Drafted<InputOf<F>>;
}

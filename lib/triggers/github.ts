import type { operations } from '@octokit/openapi-webhooks-types';
import { type Drafted, type Fields, type InputOf, inputOf, type Trigger } from './trigger.ts';

/** Converts `pull-request/ready-for-review` to `pull_request.ready_for_review`. */
type Underscored<T extends string> = T extends `${infer A}-${infer B}` ? `${A}_${Underscored<B>}` : T;
type NameOf<T extends string> = T extends `${infer Event}/${infer Action}`
  ? `${Underscored<Event>}.${Underscored<Action>}`
  : Underscored<T>;
type Names = { [Key in keyof operations & string as NameOf<Key>]: Key };

/**
 * An event of GitHub, with its action if it has one: `push`, `release.published`.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
export type GithubEvent = keyof Names;

/**
 * The payload of a GitHub event. An event is looked up by its name, because a union of all events is too large for the
 * compiler.
 */
export type GithubPayload<Event extends GithubEvent> = Event extends GithubEvent
  ? operations[Names[Event]] extends { requestBody: { content: { 'application/json': infer Payload } } }
    ? Payload
    : never
  : never;

/** The people whose events count: people with at least triage permission in the repository, or anyone. */
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
 * @param event its name and action, or a list of them
 * @param of.input the fields that `run` gets; together at most 8 KB
 * @param of.by whose events count: `collaborators` by default. `anyone` lets outsiders cause calls, within the
 *   connection's `strangersShare`
 * @param of.job creates a job from the verified payload, or several, or says why there is none. It must be pure,
 *   because it may run again
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

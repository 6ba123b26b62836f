import { NeedsOperator } from '../../engine/record/interruption.ts';
import { nearMiss } from '../../near-miss.ts';
import { cutToLength } from '../../text.ts';
import { UnknownStep } from './thrown.ts';

/** The name becomes part of a table key, which holds 1,024 bytes. */
const LONGEST_NAME = 200;

/** Runs a step when it is its turn. */
export type Taking = <T>(step: string, take: () => Promise<T>) => Promise<T>;

/**
 * Refuses a second step with the same name, which would return the first one's stored result.
 * @param ensureAllowed throws if the step is not allowed
 */
export function eachNamedOnce(steps: object, ensureAllowed: (verb: string) => Promise<void>, taking: Taking): object {
  const named = new Set<string>();
  const lists = new Set<string>();
  /** A list has one step for each page. */
  const isPage = (step: string) =>
    [...lists].some((list) => step.startsWith(list) && /^ \d+$/.test(step.slice(list.length)));
  const entries = Object.entries(steps).map(([verb, take]) => {
    if (typeof take !== 'function' || verb === 'stop') return [verb, take] as const;
    const once = async (step: unknown, ...rest: unknown[]) => {
      if (typeof step !== 'string' || step === '') throw new NeedsOperator(`${verb}() needs a name for its step`);
      if (step.length > LONGEST_NAME)
        throw new NeedsOperator(
          `the step '${cutToLength(step, 40, '…')}' has a name of ${step.length} characters; ${LONGEST_NAME} is the most`,
        );
      if (isOfRelay(step)) throw new NeedsOperator(`the relay itself names a step '${step}'; choose another name`);
      if (verb === 'list') lists.add(step);
      // These steps share their name with a `create` or `say` step, so the verb and the key make it unique.
      const own = verb === 'found' || verb === 'letGo' ? `${step}: ${verb} ${rest[0]}` : step;
      if (named.has(own) || [step, ...named].some(isPage)) {
        throw new NeedsOperator(
          `the name '${step}' is used twice in one run, or names the page of a list, as 'tasks 1' does; give each step a name of its own, such as '${step} <id>'`,
        );
      }
      named.add(own);
      await ensureAllowed(verb);
      return take(step, ...rest);
    };
    return [verb, (...given: Parameters<typeof once>) => taking(String(given[0]), () => once(...given))] as const;
  });
  return new Proxy<Record<string | symbol, unknown>>(Object.fromEntries(entries), {
    get(steps, name) {
      const meant = name in steps ? undefined : nearMiss(String(name), Object.keys(steps));
      if (meant === undefined) return steps[name];
      throw new UnknownStep(`there is no step '${String(name)}'; did you mean '${meant}'?`);
    },
  });
}

/** True for steps of the relay itself: before a run, after it, or as part of a step. */
export const isOfRelay = (step: string) => /^(reply|not done|who acts|find the person|may @.*)$|: /.test(step);

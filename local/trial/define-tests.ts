import type { Payloads } from '../../lib/service/partner/operations/operations.ts';
import type { WantedEvent } from '../examples/github-event.ts';

/** The fields that matter: their values, or what their text looks like. */
export type ExpectedFields<P = Record<string, unknown>> = { [F in keyof P]?: P[F] | RegExp };

/** What the relay asks of the service apart from reading, by operation; several requests of one as a list. */
export type ExpectedCalls = {
  [N in keyof Payloads]?: ExpectedFields<Payloads[N]> | ExpectedFields<Payloads[N]>[];
};

/** An event, and what shall come of it under relay.config.ts. */
export interface RelayTest {
  /**
   * One of GitHub's examples, changed as by the options of `relay send`, in the first repository of the configuration
   * unless it names another; or the payload of a delivery, in a file beside the tests.
   */
  event: WantedEvent | { event: string; file: string };
  /** Exactly these requests, or nothing at all: no comment either. */
  makes: ExpectedCalls | 'nothing';
}

/** The tests of a file for `relay test`, by what they say. */
export const defineTests = (tests: Readonly<Record<string, RelayTest>>): typeof tests => tests;

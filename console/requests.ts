import * as z from 'zod';

/** The requests of the console's pages, with the schemas by which the server checks them, and their answers. */

const text = z.string().trim().min(1).max(300);

/** `POST /api/operate`: an operator's action that is not about jobs. Answers {@link ActionOutcome}. */
export const relayAction = z.discriminatedUnion('do', [
  z.object({ do: z.literal('resume'), connection: text }),
  /** `steal`: even if the relay made the defect for another issue or job. */
  z.object({ do: z.literal('set link'), issue: text, defectId: text, steal: z.boolean() }),
  z.object({ do: z.literal('clear link'), issue: text }),
  /** `at`: runs as if it were that time. */
  z.object({ do: z.literal('run schedule'), schedule: text, at: z.number().exactOptional() }),
]);
export type RelayAction = z.output<typeof relayAction>;

/** The result of an action. */
export interface ActionOutcome {
  text: string;
  /** The ids of the jobs that the action made. */
  jobs?: string[];
  /** The result of a schedule's function. */
  result?: unknown;
}

/** `POST /api/jobs/<id>`, and `POST /api/jobs` with `{ ids, ...action }` for several. Answers {@link ActionResult}. */
export const jobAction = z.discriminatedUnion('do', [
  z.object({ do: z.literal('replay') }),
  z.object({ do: z.literal('answer'), answer: z.string().trim().min(1, 'an answer is needed').max(300) }),
  z.object({ do: z.literal('discard'), reason: z.string().trim().min(1, 'a reason is needed').max(1_000) }),
  z.object({ do: z.literal('done'), createdId: z.string().trim().min(1).max(200) }),
  z.object({ do: z.literal('again') }),
  z.object({ do: z.literal('search') }),
]);
export type JobAction = z.output<typeof jobAction>;

export interface ActionResult {
  /** For each job, what happened, or why nothing did. */
  results: { id: string; ok: boolean; text: string }[];
}

/**
 * `GET /api/changes`: a stream of JSON lines, while the page is visible. Each line names the jobs that changed, or says
 * that the numbers of the screen Now changed.
 */
export type LiveChange = { jobs: string[] } | { now: true };

/** `POST /api/try`. Answers {@link ActionOutcome}. */
export const tryAction = z.discriminatedUnion('do', [
  z.object({ do: z.literal('send event'), event: z.string().regex(/^[a-z_]+$/), body: z.string() }),
  z.object({ do: z.literal('send command'), text: z.string().max(4_000), user: z.string().exactOptional() }),
  z.object({
    do: z.literal('press'),
    channel: z.string(),
    ts: z.string(),
    actionId: z.string(),
    value: z.string().exactOptional(),
  }),
  z.object({ do: z.literal('set fault'), fault: z.record(z.string(), z.unknown()) }),
  z.object({ do: z.literal('clear fault'), id: z.string() }),
]);
export type TryAction = z.output<typeof tryAction>;

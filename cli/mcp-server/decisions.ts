import type { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { decide } from '../../console/actions.ts';
import type { JobDetail } from '../../console/contract.ts';
import { type Do, described } from '../../console/decisions.ts';
import { jobDetail } from '../../console/job.ts';
import type { OperatedRelay } from '../../console/relay.ts';
import { resumedInWords, resumeForPerson } from '../../lib/engine/operate/resume.ts';
import { knownJob } from '../known-job.ts';
import { quoted } from './answer.ts';
import { type Confirm, createConfirm } from './confirmation.ts';
import type { AddTool } from './tool.ts';

const REVERSIBLE: readonly Do[] = ['replay', 'search'];
const IRREVERSIBLE: readonly Do[] = ['answer', 'discard', 'done', 'again'];

const CONFIRMED = 'The person at the client confirms it in a form.';
const RESUMED = 'The pause of the connection ends, its breakers close, and its waiting jobs continue.';

const name = z.string().min(1).max(200);

/** Adds the tools that decide, one job at a time, with the checks and records of the console. */
export function addDecisions(add: AddTool, server: McpServer, stage: string | undefined): void {
  const confirm = createConfirm(server);
  const ofStage = stage === undefined ? '' : `--stage ${stage} `;
  for (const does of [...REVERSIBLE, ...IRREVERSIBLE]) addDecision(add, does, confirm, ofStage);
  add({
    name: 'resume_connection',
    description: `${RESUMED} ${CONFIRMED}`,
    changes: 'what waits',
    input: z.object({ connection: name }),
    run: async ({ connection }, relay, context) => {
      const lines = [`Resume the connection ${quoted(connection)} of ${relay.name}?`, RESUMED, recordedAs(relay)];
      await confirm({ lines, command: `${ofStage}resume ${connection}` }, context);
      const stores = { ...relay.stores, config: relay.runtime.config };
      return { text: resumedInWords(connection, await resumeForPerson(connection, throughAssistant(relay), stores)) };
    },
  });
}

function addDecision(add: AddTool, does: Do, confirm: Confirm, ofStage: string): void {
  const { will, asks } = described[does];
  const proposal = asks ? `${asks.label}, which the person reads, and types or changes` : 'not used';
  add({
    name: `decide_${does}`,
    description: `${will} ${CONFIRMED}`,
    changes: REVERSIBLE.includes(does) ? 'what waits' : 'for good',
    input: z.object({
      job: name.describe('its id, or a part of it'),
      proposal: z.string().max(1_000).default('').describe(proposal),
    }),
    run: async ({ job, proposal: proposed }, relay, context) => {
      const { id } = await knownJob(relay.stores, job);
      const seen = await jobDetail(relay, id);
      if (!seen.next.actions.includes(does)) throw new Error(`this decision is not possible now. ${seen.next.text}`);
      const lines = linesOf(does, seen, relay);
      if (asks && proposed !== '') lines.splice(-1, 0, `The assistant proposes: ${quoted(proposed)}`);
      const typed = await confirm({ lines, asks, command: `${ofStage}job ${id}` }, context);
      const { generation, status } = await jobDetail(relay, id);
      if (generation !== seen.generation || status !== seen.status)
        throw new Error('nothing was changed: the job has changed while the person was asked; look at it again');
      const operator = throughAssistant(relay);
      const { results } = await decide(
        { ...relay, operator },
        { do: does, answer: typed, reason: typed, createdId: typed },
        id,
      );
      const failed = results.find(({ ok }) => !ok);
      if (failed) throw new Error(failed.text);
      return { results };
    },
  });
}

function linesOf(does: Do, { id, summary, status, news, openCreations }: JobDetail, relay: OperatedRelay): string[] {
  const { title, will } = described[does];
  const [open] = openCreations ?? [];
  return [
    title.replace('{jobs}', `this job of ${relay.name}`),
    `Job: ${id}`,
    `Event: ${quoted(summary)}`,
    `It is ${status}: ${quoted(news)}`,
    ...(open ? [`Known: ${quoted(open.forAndAgainst)}`] : []),
    (does !== 'replay' && does !== 'answer' && does !== 'discard' && open?.consequences[does]) || will,
    recordedAs(relay),
  ];
}

const throughAssistant = ({ operator }: OperatedRelay) => `${operator} through an assistant`;

const recordedAs = (relay: OperatedRelay) => `It is recorded as made by ${throughAssistant(relay)}.`;

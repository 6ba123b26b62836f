import * as z from 'zod/mini';
import { excerpt } from '../../commands/fault.ts';
import { asTyped, unquoted } from '../../commands/words.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { type CommandOrigin, eventOf, type Verb } from '../verb.ts';

const describedDefect = z.object({
  projectId: z.string(),
  title: z.string(),
  description: z.string(),
  type: z.optional(z.string()),
  priority: z.optional(z.string()),
  severity: z.optional(z.string()),
});

export type DescribedDefect = z.output<typeof describedDefect>;

/** `origin` says where the defect comes from; it is shown in the description. */
export const defectJobs = defineJobs('create-defect', z.extend(describedDefect, { origin: z.string() }));

export interface DefectCommand {
  verb: 'defect';
  title?: string;
}

/** Opens a form if the title is missing or the channel has no project. */
export const defectVerb: Verb<DefectCommand> = {
  verb: 'defect',
  usage: 'defect [title]',
  does: "creates a defect; opens a form if the title or the channel's project is missing",
  examples: ['defect Login fails on Safari', 'defect'],
  read(text) {
    const title = unquoted(text);
    return { command: title === '' ? { verb: 'defect' } : { verb: 'defect', title } };
  },
  print: ({ title }) => (title === undefined ? 'defect' : `defect ${asTyped(title)}`),
  doubt: ({ title }) => doubtOfTitle('defect', title),
  permission: 'defect',
  job({ title }, origin, { slack }) {
    const projectId = slack?.channels[origin.channelId ?? '']?.projectId;
    if (title === undefined || projectId === undefined) return undefined;
    const { types = [], priorities = [], severities = [] } = slack?.defect ?? {};
    const [type, priority, severity] = [types[0], priorities[0], severities[0]];
    return defectJob({ projectId, title, description: '', type, priority, severity }, origin);
  },
};

/**
 * Returns why a title may be a mistake: `issue WEB-42`, `bug list` and `task 201 fertig` look like an id or another
 * request, and `task "Fix the cart" assign to @ada` asks for more than a title.
 */
export function doubtOfTitle(what: string, title = ''): string | undefined {
  const words = title.split(' ', MOST_ODD_WORDS + 1);
  const isOdd = words.length <= MOST_ODD_WORDS && words.every((word) => /\d/.test(word) || WISH.test(word));
  if (MORE_THAN_TITLE.test(title))
    return `All of this would be the title, because Partner Relay cannot assign a ${what} or set its due date.`;
  return isOdd && title !== '' ? `This would create a ${what} called ${excerpt(title)}.` : undefined;
}

const MORE_THAN_TITLE = /(?:^| )(?:assign(?:ed)? )?to <?@|["”“»] (?:assign|due) /i;

const MOST_ODD_WORDS = 3;
const WISH = /^(?:list|all|done|closed|fixed|fertig|erledigt|(?:--)?help|-h|\?)$/i;

/**
 * Drafts the job for a defect that a person requests in Slack, with a command or a form.
 * @param permalink the link to the Slack message from which the defect is created
 */
export function defectJob(
  { permalink, ...defect }: DescribedDefect & { permalink?: string | undefined },
  origin: CommandOrigin,
): JobDraft {
  const from = `Created in Slack by @${origin.byName}${permalink ? `, from ${permalink}` : ''}`;
  return defectJobs.draft({
    ...eventOf('defect', `defect ${defect.title}`, origin),
    input: { ...defect, origin: from },
  });
}

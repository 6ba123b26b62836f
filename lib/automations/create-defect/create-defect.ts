import type * as zod from 'zod';
import * as z from 'zod/mini';
import { asTyped, unquoted } from '../../commands/words.ts';
import { asNotDone } from '../../engine/record/interruption.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { type Automation, defineAutomation, defineJobs } from '../../engine/run/automation.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { createDefect as operation } from '../../service/partner/operations/defects.ts';
import { cutToBytes, cutToLength } from '../../text.ts';
import type { Mine } from '../as-person.ts';
import { createWith } from '../create-with.ts';
import type { Tools } from '../tools.ts';
import { type CommandOrigin, eventOf, type Verb } from '../verb.ts';

const defectJobs = defineJobs(
  'create-defect',
  z.object({
    projectId: z.string(),
    title: z.string(),
    description: z.string(),
    type: z.optional(z.string()),
    priority: z.optional(z.string()),
    severity: z.optional(z.string()),
    /** The origin, as the description states it. */
    origin: z.string(),
  }),
);

/** A defect as a person described it. */
export interface DescribedDefect {
  projectId: string;
  title: string;
  description: string;
  type?: string | undefined;
  priority?: string | undefined;
  severity?: string | undefined;
  /** Link to the Slack message that the defect was made from. */
  permalink?: string | undefined;
}

export interface DefectCommand {
  verb: 'defect';
  title?: string;
}

export const defectVerb: Verb<DefectCommand> = {
  verb: 'defect',
  usage: 'defect [title]',
  does: 'creates a defect; without a title, opens a form',
  examples: ['defect Login fails on Safari', 'defect'],
  read(text) {
    const title = unquoted(text);
    return { command: title === '' ? { verb: 'defect' } : { verb: 'defect', title } };
  },
  print: ({ title }) => (title === undefined ? 'defect' : `defect ${asTyped(title)}`),
  permission: 'defect',
  asksBeforeRepeating: true,
  job({ title }, origin, { slack }) {
    const projectId = slack?.channels[origin.channelId ?? '']?.projectId;
    if (title === undefined || projectId === undefined) return undefined;
    const { types = [], priorities = [], severities = [] } = slack?.defect ?? {};
    const [type, priority, severity] = [types[0], priorities[0], severities[0]];
    return defectJob({ projectId, title, description: '', type, priority, severity }, origin);
  },
};

/** The job for a defect that a person requests in Slack, with a command or a form. */
export function defectJob({ permalink, ...defect }: DescribedDefect, origin: CommandOrigin): JobDraft {
  const from = `Created in Slack by @${origin.byName}${permalink ? `, from ${permalink}` : ''}`;
  return defectJobs.draft({
    ...eventOf('defect', `defect ${defect.title}`, origin),
    input: { ...defect, origin: from },
  });
}

/** The same limit as in issue-to-defect. */
const MAX_DESCRIPTION_BYTES = 32_768;
/** The form's limit. The description has the rest of a longer title. */
const MAX_TITLE_LENGTH = 255;

/** Creates a defect that a person requested in Slack. */
export function createDefect({ asPerson, markers }: Tools): Automation {
  return defineAutomation(defectJobs, async ({ origin, ...described }, job, steps) => {
    const mine = await asPerson('defect', job.asked?.by, job, steps);
    const marker = await markers.of('defect', job.id);
    const defect = fitting(described);
    if (mine) return createAsPerson(mine, { ...defect, origin }, marker);
    const { projectId, title, description, type, priority, severity } = defect;
    const footer = `---\n${origin}\n${marker}`;
    const room = MAX_DESCRIPTION_BYTES - Buffer.byteLength(footer) - 2;
    const text = cutToBytes(description, room, CUT);
    const payload = {
      project_id: projectId,
      title,
      description: text === '' ? footer : `${text}\n\n${footer}`,
      ...(type && { type }),
      ...(priority && { priority }),
      ...(severity && { severity }),
    };
    const { id } = await create(payload, marker, steps);
    return `created defect ${id}: ${title}`;
  });
}

const CUT = '\n[Cut here.]';

/** What does not fit into the title stands in the description. */
function fitting<Defect extends Pick<DescribedDefect, 'title' | 'description'>>(defect: Defect): Defect {
  const { title, description } = defect;
  if (title.length <= MAX_TITLE_LENGTH) return defect;
  const whole = `${title}\n\n${description}`.trim();
  return { ...defect, title: cutToLength(title, MAX_TITLE_LENGTH, '…'), description: whole };
}

/** Creates it with the tool that is mapped, as the person who asked: the service says whose it is. */
async function createAsPerson(
  { uses, tools }: Mine<'defect'>,
  { projectId: project, description, origin, ...fields }: DescribedDefect & { origin: string },
  marker: string,
): Promise<Outcome> {
  const room = MAX_DESCRIPTION_BYTES - Buffer.byteLength(origin + marker) - 8;
  const text = [cutToBytes(description, room, CUT), `---\n${origin}`].filter((part) => part !== '').join('\n\n');
  const id = await createWith(tools, {
    step: 'create the defect',
    use: uses.own,
    fields: { ...fields, project, marker, description: text },
    unclear: 'this defect was created',
    isPublic: false,
  });
  return { text: `created defect ${id === undefined ? '' : `${id} `}as you: ${fields.title}`, id };
}

async function create(defect: zod.input<typeof operation.payload>, marker: string, steps: Steps) {
  try {
    return await steps.create('create-defect', operation, defect, { marker });
  } catch (error) {
    throw asNotDone(error, 'this defect');
  }
}

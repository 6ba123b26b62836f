import type * as z from 'zod';
import { digest } from '../digest.ts';
import type { Automation } from '../jobs/automation.ts';
import { asNotDone } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { createDefect as operation } from '../partner/defects.ts';
import { cutToBytes, cutToLength } from '../text.ts';

export const CREATE_DEFECT = 'create-defect';

/** What a job of this automation knows. */
export interface DefectToCreate {
  projectId: string;
  title: string;
  description: string;
  type?: string;
  priority?: string;
  severity?: string;
  /** Where it comes from, as the description says it. */
  origin: string;
}

/** As of issue-to-defect. */
const MAX_DESCRIPTION_BYTES = 32_768;
/** As the form has it; what is longer stands in the description. */
const MAX_TITLE_LENGTH = 255;

/** Creates a defect that somebody asked for. */
export const createDefect: Automation = {
  name: CREATE_DEFECT,
  async run(job, steps) {
    const { projectId, origin, ...fields } = job.input as unknown as DefectToCreate;
    const { title, type, priority, severity } = fields;
    const isCut = title.length > MAX_TITLE_LENGTH;
    const description = isCut ? `${title}\n\n${fields.description}`.trim() : fields.description;
    const marker = `[partner-relay ${digest(['defect', job.id])}]`;
    const footer = `---\n${origin}\n${marker}`;
    const room = MAX_DESCRIPTION_BYTES - Buffer.byteLength(footer) - 2;
    const text = cutToBytes(description, room, '\n[Cut here.]');
    const payload = {
      project_id: projectId,
      title: cutToLength(title, MAX_TITLE_LENGTH, '…'),
      description: text === '' ? footer : `${text}\n\n${footer}`,
      ...(type && { type }),
      ...(priority && { priority }),
      ...(severity && { severity }),
    };
    const { id } = await create(payload, marker, steps);
    return `created defect ${id}: ${payload.title}`;
  },
};

async function create(defect: z.input<typeof operation.payload>, marker: string, steps: Steps) {
  try {
    return await steps.create('create-defect', operation, defect, marker);
  } catch (error) {
    throw asNotDone(error, 'this defect');
  }
}

import { digest } from '../digest.ts';
import { createDefect as operation } from '../partner/defects.ts';
import { cutToBytes } from '../text.ts';
import type { Automation } from './automation.ts';

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

/** Creates a defect that somebody asked for. */
export const createDefect: Automation = {
  name: CREATE_DEFECT,
  async run(job, steps) {
    const { projectId, description, origin, ...fields } = job.input as unknown as DefectToCreate;
    const { title, type, priority, severity } = fields;
    const marker = `[partner-relay ${digest(['defect', job.id])}]`;
    const footer = `---\n${origin}\n${marker}`;
    const room = MAX_DESCRIPTION_BYTES - Buffer.byteLength(footer) - 2;
    const text = cutToBytes(description, room, '\n[Cut here.]');
    const payload = {
      project_id: projectId,
      title,
      description: text === '' ? footer : `${text}\n\n${footer}`,
      ...(type && { type }),
      ...(priority && { priority }),
      ...(severity && { severity }),
    };
    const { id } = await steps.create('create-defect', operation, payload, marker);
    return `created defect ${id}: ${title}`;
  },
};

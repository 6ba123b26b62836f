import { ifRefused } from '../../engine/record/interruption.ts';
import { createDefect as operation } from '../../service/partner/operations/defects.ts';
import type { Mine } from '../as-person.ts';
import { fittingTitle, MAX_DESCRIPTION_BYTES, withFooter } from '../described.ts';
import { defineRun } from '../our-automation.ts';
import { type DescribedDefect, defectJobs } from './command.ts';

/** Creates a defect that a person requested in Slack. */
export const run = defineRun(defectJobs, async ({ origin, ...described }, steps, { job, asPerson, markers }) => {
  const mine = await asPerson('defect', job.asked?.by, job, steps);
  const marker = await markers.of('defect', job.id);
  const { projectId, title, description, ...fields } = fitting(described);

  async function withKey(): Promise<string | number> {
    const given = Object.entries(fields).filter(([, value]) => value);
    const text = withFooter(description, `${origin}\n${marker}`);
    const payload = { project_id: projectId, title, description: text, ...Object.fromEntries(given) };
    return (await steps.create('create-defect', operation, payload, { marker })).id;
  }

  /** Creates the defect with the person's account, so the service shows who reported it. */
  function asThem({ uses, tools }: Mine<'defect'>) {
    // The template of the tool may add the marker.
    const text = withFooter(description, origin, MAX_DESCRIPTION_BYTES - Buffer.byteLength(`\n\n${marker}`));
    const filled = { ...fields, title, project: projectId, marker, description: text };
    return tools.write('create the defect', uses.own, filled, 'this defect was created');
  }

  const id = await (mine ? asThem(mine) : withKey()).catch(ifRefused('this defect'));
  const text = `created defect${id === undefined ? '' : ` ${id}`}${mine ? ' in your name' : ''}: ${title}`;
  return { text, id, ...(id !== undefined && { about: [{ kind: 'defects', id }] }) };
});

/** Moves a title that is too long into the description. */
function fitting<Defect extends Pick<DescribedDefect, 'title' | 'description'>>(defect: Defect): Defect {
  const title = fittingTitle(defect.title);
  if (title === defect.title) return defect;
  return { ...defect, title, description: `${defect.title}\n\n${defect.description}`.trim() };
}

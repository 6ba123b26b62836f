import { asNotDone } from '../../engine/record/interruption.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { createDefect as operation } from '../../service/partner/operations/defects.ts';
import type { Mine } from '../as-person.ts';
import type { Context } from '../context.ts';
import { createWith } from '../create-with.ts';
import { fittingTitle, MAX_DESCRIPTION_BYTES, withFooter } from '../described.ts';
import { type DescribedDefect, defectJobs } from './command.ts';

/** Creates a defect that a person requested in Slack. */
export function createDefect({ asPerson, markers }: Context): Automation {
  return defineAutomation(defectJobs, async ({ origin, ...described }, job, steps) => {
    const mine = await asPerson('defect', job.asked?.by, job, steps);
    const marker = await markers.of('defect', job.id);
    const defect = fitting(described);
    if (mine) return createAsPerson(mine, { ...defect, origin }, marker);
    const { projectId, title, description, type, priority, severity } = defect;
    const payload = {
      project_id: projectId,
      title,
      description: withFooter(description, `${origin}\n${marker}`),
      ...(type && { type }),
      ...(priority && { priority }),
      ...(severity && { severity }),
    };
    const { id } = await steps
      .create('create-defect', operation, payload, { marker })
      .catch((error: unknown) => Promise.reject(asNotDone(error, 'this defect')));
    return { text: `created defect ${id}: ${title}`, about: [{ kind: 'defects', id }] };
  });
}

/** What does not fit into the title stands in the description. */
function fitting<Defect extends Pick<DescribedDefect, 'title' | 'description'>>(defect: Defect): Defect {
  const title = fittingTitle(defect.title);
  if (title === defect.title) return defect;
  return { ...defect, title, description: `${defect.title}\n\n${defect.description}`.trim() };
}

/** Creates it with the tool that is mapped, as the person who asked: the service says whose it is. */
async function createAsPerson(
  { uses, tools }: Mine<'defect'>,
  { projectId: project, description, origin, ...fields }: DescribedDefect & { origin: string },
  marker: string,
): Promise<Outcome> {
  // The template of the tool may add the marker.
  const text = withFooter(description, origin, MAX_DESCRIPTION_BYTES - Buffer.byteLength(`\n\n${marker}`));
  const id = await createWith(tools, {
    step: 'create the defect',
    use: uses.own,
    fields: { ...fields, project, marker, description: text },
    unclear: 'this defect was created',
    isPublic: false,
  });
  const about = id === undefined ? {} : { about: [{ kind: 'defects', id } as const] };
  return { text: `created defect ${id === undefined ? '' : `${id} `}as you: ${fields.title}`, id, ...about };
}

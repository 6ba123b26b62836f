import { oneOf, priority, project, text } from './arguments.ts';
import { tool } from './tool.ts';

const severity = oneOf(['minor', 'major', 'critical']);

export const defects = [
  tool({
    name: 'report_defect',
    title: 'Report a defect',
    description: 'Creates a defect in a project.',
    scope: 'mcp:tests.write',
    kind: 'creates',
    required: { project, title: text },
    optional: { description: text, priority, severity },
    run({ project, ...fields }, actor) {
      const { project_id } = actor.project(project);
      return { defect: actor.carryOut('/defects/create', { project_id, ...fields }) };
    },
  }),
];

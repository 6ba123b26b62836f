import { priority, project, text } from './arguments.ts';
import { tool } from './tool.ts';

const severity = { type: 'string', enum: ['minor', 'major', 'critical'] } as const;

export const defects = [
  tool({
    name: 'find_defects',
    title: 'Find defects',
    description: 'Defects of the projects that you can see, the newest first, at most 50.',
    scope: 'mcp:tests.read',
    kind: 'reads',
    required: {},
    optional: { project, containing: { ...text, description: 'Text in the title' } },
    run({ project, containing = '' }, actor) {
      const wanted = containing.toLowerCase();
      const found = actor
        .visible(actor.store.data.defects)
        .filter(
          (candidate) =>
            (project === undefined || candidate.project_id === project) &&
            candidate.title.toLowerCase().includes(wanted),
        );
      return {
        defects: found
          .toReversed()
          .slice(0, 50)
          .map(({ defect_id, project_id, title, status, priority, severity }) => ({
            defect: defect_id,
            project: project_id,
            title,
            status,
            priority,
            severity,
          })),
      };
    },
  }),
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

import { randomUUID } from 'node:crypto';
import type { Project } from '../records.ts';
import { refuse } from '../refusal.ts';
import { find, type Store } from '../store.ts';
import { count, date, name, number, operation, paginate, text, uuid } from './operation.ts';

const changeable = {
  name: name,
  priority: text,
  description: text,
  status: text,
  start_date: date,
  end_date: date,
  estimated_hours: number,
} as const;

export const projects = [
  operation({
    path: '/projects/list',
    evidence: 'documented',
    scope: 'projects.read',
    optional: { page: count, limit: count },
    run({ page = 1, limit }, { data }) {
      // "every project the key can access" is not documented as paginated. Assumed: without a limit, it returns all of
      // them.
      const all = data.projects.map(returned);
      return limit === undefined ? { data: all } : paginate(all, { page, per_page: limit });
    },
  }),
  operation({
    path: '/projects/create',
    evidence: 'documented',
    scope: 'projects.write',
    // The machine-readable description lists 200, but the reference 201, which applies here.
    success: 201,
    required: { name: name },
    optional: changeable,
    run(payload, store, stamp, actorId) {
      const project: Project = {
        project_id: randomUUID(),
        short_name: payload.name.replaceAll(/\W/g, '').slice(0, 3).toUpperCase(),
        description: '',
        project_type: 'standard',
        status: 'active',
        isactive: true,
        start_date: null,
        end_date: null,
        estimated_hours: null,
        is_favourite: false,
        priority: 'medium',
        ...payload,
        created_by: actorId,
        dt_created: stamp,
        dt_updated: stamp,
      };
      return { data: returned(store.put('projects', project)) };
    },
  }),
  operation({
    path: '/projects/detail',
    evidence: 'fields assumed',
    scope: 'projects.read',
    required: { project_id: uuid },
    run: ({ project_id }, store) => ({ data: returned(existing(store, project_id)) }),
  }),
  operation({
    path: '/projects/update',
    evidence: 'fields assumed',
    scope: 'projects.write',
    required: { project_id: uuid },
    optional: changeable,
    run({ project_id, ...changes }, store, stamp) {
      const project = { ...existing(store, project_id), ...changes, dt_updated: stamp };
      return { data: returned(store.put('projects', project)) };
    },
  }),
  operation({
    path: '/projects/search',
    evidence: 'documented',
    scope: 'projects.read',
    required: { q: text },
    optional: { page: count, per_page: count },
    run({ q, ...pages }, { data }) {
      const found = data.projects.filter(({ name, description }) => matches(q, name, description));
      return paginate(found.map(returned), pages);
    },
  }),
];

/** Case-insensitive, anywhere in the text (assumed). */
export function matches(q: string, ...texts: string[]): boolean {
  return texts.join('\n').toLowerCase().includes(q.toLowerCase());
}

/** docs/partner-api.md#statuses has no 404 for projects, tasks and timelogs. Assumed: unknown ids fail validation. */
function existing({ data }: Store, project_id: string): Project {
  return find(data.projects, 'project_id', project_id) ?? refuse(422, 'Project not found');
}

function returned({ priority, created_by, ...project }: Project): Omit<Project, 'priority' | 'created_by'> {
  return project;
}

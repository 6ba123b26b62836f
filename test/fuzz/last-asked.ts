import { checkJobs } from '../../lib/automations/check-pull-request/jobs.ts';
import { checklistItemJobs } from '../../lib/automations/complete-checklist-item/jobs.ts';
import { relateJobs } from '../../lib/automations/relate/jobs.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import { SCENARIO } from './github.ts';
import type { World } from './world.ts';

/** GitHub's times are whole seconds, and clocks are wrong. */
const SAME_TIME_MS = 2_000;

/** Checks, when no job is under way, that the last request for each value is in effect. */
export function notAsAsked(world: World): string[] {
  return [...wrongItems(world), ...wrongScenario(world), ...wrongChecks(world), ...unlinked(world)];
}

/** Whether the link of a job exists. */
export function isLinked(job: Job, { service }: World): boolean {
  const { defect, to } = relateJobs.inputOf(job);
  const target = 'named' in to ? to.named : undefined;
  return service.linked.some((link) => {
    const values = Object.values(JSON.parse(link) as object).map(String);
    return values.includes(defect ?? '') && values.includes(target ?? '');
  });
}

/**
 * Links that were made twice, because the effect of that is unknown. After a discard, the next request may repeat one.
 */
export function linkedTwice(world: World): string[] {
  const { linked } = world.service;
  const isDiscarded = world.jobs().some(({ automation, discarded }) => automation === relateJobs.name && discarded);
  const twice = linked.filter((link, index) => linked.indexOf(link) !== index);
  return isDiscarded ? [] : twice.map((link) => `${link} was linked twice`);
}

const isDone = ({ status }: Job) => status === 'succeeded';

function unlinked(world: World): string[] {
  const jobs = world.jobs().filter((job) => job.automation === relateJobs.name && job.outcome?.startsWith('linked'));
  return jobs.flatMap((job) => (isLinked(job, world) ? [] : [`${job.id} has linked nothing: ${job.outcome}`]));
}

function wrongItems(world: World): string[] {
  const { asked } = world.github;
  const requests = world.jobs().flatMap((job) => {
    if (job.automation !== checklistItemJobs.name) return [];
    const { items, completed } = checklistItemJobs.inputOf(job);
    return { job, items, completed, at: asked.get(job.id) ?? job.createdAt };
  });
  return world.service.data.checklistItems.flatMap(({ item_id, is_completed }) => {
    const ofItem = requests.filter(({ items }) => items.includes(String(item_id)));
    const at = Math.max(...ofItem.map((one) => one.at));
    const newest = ofItem.filter((one) => one.at > at - SAME_TIME_MS);
    // The service may have refused the item, or an operator may have discarded the job.
    const refused = new RegExp(`no checklist item ${item_id}\\.|Checklist item ${item_id}: (?!there is a newer)`);
    const isRefused = ({ job }: { job: Job }) => !isDone(job) || refused.test(job.outcome ?? '');
    if (newest.length === 0 || newest.some(isRefused)) return [];
    const isAsAsked = newest.some(({ completed }) => completed === is_completed);
    return isAsAsked ? [] : [`item ${item_id} is not as ${newest.map(({ job }) => job.id)} asked for`];
  });
}

/** The newest runs of all workflows on the newest commit decide. */
function wrongScenario(world: World): string[] {
  const jobs = world.jobs();
  const runs = world.github.runs.filter(({ job }) => jobs.some(({ id }) => id === job));
  const newest = runs.at(-1);
  const isUnclear =
    world.service.refused.has('/test-scenarios/update') ||
    jobs.some(({ id, discarded }) => discarded && runs.some(({ job }) => job === id));
  if (!newest || isUnclear) return [];
  const byWorkflow = new Map(runs.map((run) => [run.workflow, run]));
  const ofCommit = [...byWorkflow.values()].filter(({ commit }) => commit === newest.commit);
  const wanted = ofCommit.some(({ hasFailed }) => hasFailed) ? 'failed' : 'passed';
  const scenario = world.service.data.testScenarios.find(({ scenario_id }) => scenario_id === SCENARIO);
  return scenario?.status === wanted ? [] : [`the scenario is ${scenario?.status} instead of ${wanted}`];
}

/** The strictest of a commit's open pull requests decides. */
function wrongChecks(world: World): string[] {
  const { pulls, checkRuns } = world.github.standIn.known;
  const isDiscarded = world.jobs().some(({ automation, discarded }) => automation === checkJobs.name && discarded);
  // A task that the service refuses to show counts as missing.
  if (isDiscarded || world.service.refused.has('/tasks/detail')) return [];
  const open = [...pulls.values()].filter(({ state }) => state === 'open') as unknown as Pull[];
  return [...Map.groupBy(open, ({ head }) => head.sha)].flatMap(([sha, ofCommit]) => {
    const wanted = ofCommit.every(({ body }) => body.startsWith('Task')) ? 'success' : 'failure';
    const checks = checkRuns.filter((run) => run.head_sha === sha && run.external_id === 'pull requests');
    const said = checks.map(({ conclusion }) => conclusion);
    return said.length === 1 && said[0] === wanted ? [] : [`the check of ${sha} says ${said} instead of ${wanted}`];
  });
}

interface Pull {
  head: { sha: string };
  body: string;
}

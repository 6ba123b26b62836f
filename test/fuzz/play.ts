import { checklistItemJobs } from '../../lib/automations/complete-checklist-item/jobs.ts';
import { relateJobs } from '../../lib/automations/relate/jobs.ts';
import { type Choice, nextStep } from '../../lib/engine/line/next-step.ts';
import { asksQuestion, canBeDiscarded, isOutcomeUnknown, type Job } from '../../lib/engine/record/job.ts';
import type { Defect } from '../../sandbox/records.ts';
import { PROJECT } from '../relay.ts';
import { type Delivery, REPOSITORIES, TASK } from './github.ts';
import type { Action, Operation, Told } from './history.ts';
import { Judge } from './judge.ts';
import * as operators from './operators.ts';
import type { Trouble } from './process.ts';
import type { Limits } from './service.ts';
import { World } from './world.ts';

const TARGETS = { task: `task ${TASK}`, step: 'step 2' };

const NO_LIMITS: Limits = { perMinute: 1_000, perDay: 100_000, counting: 'sliding' };

/** Plays a history to its end, in its own world. @returns the broken promises */
export async function play(history: readonly Action[], told?: (line: string) => void): Promise<string[]> {
  const limits = history.find((action) => action.do === 'limits');
  const world = await World.start(limits ?? NO_LIMITS);
  const judge = new Judge(world);
  try {
    for (const action of history) {
      await take(action, world, judge);
      told?.(`${JSON.stringify(action)} → ${judge.summary()}`);
      const broken = await judge.now();
      if (broken.length > 0) return broken.map((one) => `${one}, after ${JSON.stringify(action)}`);
    }
    return await end(world, judge, told);
  } catch (error) {
    return [String(error instanceof Error ? error.stack : error)];
  } finally {
    world.close();
  }
}

async function take(action: Action, world: World, judge: Judge): Promise<void> {
  switch (action.do) {
    case 'limits':
      return;
    case 'happens':
      return tell(world.github.happens(action.what, action.issue), action, world);
    case 'asks': {
      // Of two requests at almost the same time, either may be the newest.
      await world.pass(3_000);
      const { from, isDone, items, troubles } = action;
      if (from !== 'slack') return tell(world.github.asks(from, isDone, items), action, world);
      const text = `${isDone ? 'done' : 'undo'} ${items.join(' ')}`;
      return void (await world.command(world.slack.types(text, checklistItemJobs), troubles));
    }
    case 'relates': {
      const defects = judge.made();
      const defect = defects[action.which % defects.length];
      if (!defect) return;
      const text = `relate ${defect.defect_id} ${TARGETS[action.to]}`;
      return void (await world.command(world.slack.types(text, relateJobs), action.troubles));
    }
    case 'comes': {
      const { what, troubles } = action;
      if (what === 'release') return tell([world.team.releases()], action, world);
      if (what === 'alert') return tell([world.team.alerts()], action, world);
      if (what === 'fires' || what === 'is over') return tell([world.team.reports(what === 'is over')], action, world);
      const service = `service-${world.slack.typed.length + 1}`;
      const { text, note } = what === 'pick' ? world.team.picks(service) : world.team.deploys(service);
      const typed = world.slack.types(text, { name: what });
      note(typed.job);
      return void (await world.command(typed, troubles));
    }
    case 'presses':
      return world.press(action.which, action.choice, action.isAsked, action.troubles);
    case 'ticks':
      return world.tick(action.troubles);
    case 'answers': {
      const asking = judge.parked().filter(asksQuestion);
      const job = asking.at(action.which % asking.length);
      if (job) await answer(job, action.troubles, world);
      return;
    }
    case 'tests':
      return tell(world.github.ends(action), action, world);
    case 'pulls':
      return tell(world.github.changesPull(action), action, world);
    case 'delivers': {
      const { deliveries } = world;
      const waiting = deliveries.filter(({ isAccepted }) => !isAccepted);
      const choice = action.which < 0 ? waiting : [...waiting, ...deliveries];
      const delivery = choice.at(action.which % choice.length);
      if (delivery) await world.post(delivery, action.troubles);
      return;
    }
    case 'commands': {
      const last = action.again ? world.slack.typed.at(-1) : undefined;
      return void (await world.command(last ?? world.slack.typesDefect(), action.troubles));
    }
    case 'works':
      return void (await world.work(action.lane, action.troubles));
    case 'works off': {
      while (await world.work(0));
      return;
    }
    case 'sweeps':
      return void (await world.sweep(action.troubles));
    case 'passes':
      return world.pass(action.seconds * 1_000);
    case 'resumes':
      judge.noteResumed();
      return world.resume(action.which);
    case 'redrives':
      return world.redrive(action.which);
    case 'diverts':
      return world.service.divert(action.detour);
    case 'edits':
      return judge.editDefect(action.which, action.field);
    case 'hides issues':
      world.github.isReadable = false;
      return;
    case 'settles':
      return world.workToTheEnd(action.untilParked);
    case 'operates':
      return operate(action.operation, action.which, action.other, action.troubles, world, judge);
  }
}

async function answer(job: Job, troubles: readonly Trouble[], world: World): Promise<void> {
  const reason = world.team.answer(job);
  await world.run(troubles, (host) => operators.replay(host, job, reason));
}

/** Delivers events, unless they are held. */
async function tell(deliveries: readonly Delivery[], { held, troubles }: Told, world: World): Promise<void> {
  if (held) return;
  for (const delivery of deliveries) await world.post(delivery, troubles);
}

async function operate(
  operation: Operation,
  which: number,
  other: number,
  troubles: readonly Trouble[],
  world: World,
  judge: Judge,
): Promise<void> {
  world.catchUp();
  const [word = '', option = ''] = operation.split(' --');
  if (word === 'backfill') {
    const repository = REPOSITORIES[other % 2] ?? '';
    await world.run(troubles, (host) => operators.backfill(host, repository));
    return;
  }
  if (word === 'link') return operateLink(option, which, other, troubles, world, judge);
  const jobs = world.jobs().filter((job) => canBeDiscarded(job) || (word === 'replay' && job.status === 'waiting'));
  const job = jobs.at(which % jobs.length);
  if (!job) return;
  if (word === 'discard') judge.noteDiscard(job);
  await world.run(troubles, async (host) => {
    const decide = (choice: Choice, act: () => Promise<void>) =>
      troubles.length > 0 ? act() : asOffered(job, choice, act, host.runtime.clock(), world);
    if (word === 'replay') await decide(replayOf(job), () => operators.replay(host, job));
    if (word === 'discard') await decide(word, () => operators.discard(host, job));
    if (option === 'search') await decide(option, () => operators.resolve(host, job, option));
    const made = await judge.madeBy(job);
    // No search finds a link, so the operator looks in the service.
    const isLink = made !== undefined && job.automation === relateJobs.name;
    if (option === 'again' && !isLink) await decide(option, () => operators.resolve(host, job, option));
    if (option === 'done' && made) await operators.resolve(host, job, { done: made });
  });
}

/** The choice that a replay of the job is: it also searches for what has an unknown outcome. */
function replayOf(job: Job): Choice {
  if (asksQuestion(job)) return 'answer';
  return isOutcomeUnknown(job) ? 'search' : 'replay';
}

/** Carries out a decision. It must be accepted if, and only if, the job's next step offers it. */
async function asOffered(job: Job, choice: Choice, act: () => Promise<void>, now: number, world: World): Promise<void> {
  const isOffered = nextStep(job, String, now)?.choices.includes(choice) ?? false;
  const refused = await act().then(
    () => undefined,
    (error: unknown) => String(error),
  );
  const isAsExpected = isOffered === (refused === undefined) || (choice === 'answer' && refused?.includes('question'));
  if (!isAsExpected && !refused?.includes('just changed'))
    world.bugs.push(`${choice} of ${job.id} is ${isOffered ? '' : 'not '}offered, and ${refused ?? 'accepted'}`);
}

/**
 * Carries out a person's decision about links. The judge then accepts what would otherwise be a mistake of the relay.
 */
async function operateLink(
  option: string,
  which: number,
  other: number,
  troubles: readonly Trouble[],
  world: World,
  judge: Judge,
): Promise<void> {
  const { issues } = world.github;
  const [issue, target] = [issues[which % issues.length], issues[other % issues.length]];
  if (!issue || !target) return;
  const defect = world.service.data.defects.filter(isOfRelay)[other];
  const decided = option === 'clear' ? option : defect && { set: defect.defect_id };
  if (!decided) return;
  const before = judge.links();
  const state = await world.run(troubles, (host) => operators.link(host, judge.nameOf(issue), decided));
  if (state === 'stalled' || judge.links() !== before) judge.notePerson([issue, target]);
}

const isOfRelay = ({ project_id, description }: Defect) =>
  project_id === PROJECT && description.includes('[partner-relay');

/** Delivers everything that remains, and decides parked jobs, until nothing is left to do. */
async function end(world: World, judge: Judge, told?: (line: string) => void): Promise<string[]> {
  world.service.clearDetours();
  judge.noteResumed();
  while (world.stalled.length > 0) await world.resume(0);
  // A function remembers for some seconds that it could not read a secret.
  await world.pass(6_000);
  for (const delivery of world.deliveries) if (!delivery.isAccepted) await world.post(delivery);
  await world.tick();
  await world.workToTheEnd();
  for (const job of judge.parked().filter(asksQuestion)) await answer(job, [], world);
  await world.workToTheEnd();
  told?.(`at the end → ${judge.summary()}`);
  const before = [...(await judge.now()), ...judge.whileParked()];
  if (before.length > 0) return before;
  for (let round = 0; round < 4; round++) {
    const parked = judge.parked();
    if (parked.length === 0) break;
    for (const job of parked) {
      await world.pass(11 * 60_000);
      const made = await judge.madeBy(job);
      const refused: string[] = [];
      await world.run([], async (host) => {
        const decide = () => {
          if (asksQuestion(job)) return operators.replay(host, job, world.team.answer(job));
          if (!isOutcomeUnknown(job)) return operators.replay(host, job);
          return operators.resolve(host, job, made === undefined ? 'again' : { done: made });
        };
        await decide().catch((error: unknown) => refused.push(String(error)));
      });
      const now = judge.parked().find(({ id }) => id === job.id);
      if (refused.length > 0 && now) return [`a decision about ${job.id} is refused: ${refused}`];
      await world.workToTheEnd();
      told?.(`decided ${job.id} (${job.parked?.reason}) → ${judge.summary()}`);
    }
  }
  return [...(await judge.now()), ...judge.atTheEnd()];
}

import { date, hours, task, text } from './arguments.ts';
import { tool } from './tool.ts';

export const timelogs = [
  tool({
    name: 'list_time',
    title: 'List time entries',
    description: 'Your own time entries, the newest first, at most 50.',
    scope: 'mcp:timelogs.read',
    kind: 'reads',
    required: {},
    optional: { task, from: date, to: date },
    run({ task, from, to }, actor) {
      const found = actor
        .visible(actor.store.data.timelogs)
        .filter(
          (timelog) =>
            timelog.user_id === actor.caller.user_id &&
            (task === undefined || timelog.task_id === task) &&
            (from === undefined || timelog.date >= from) &&
            (to === undefined || timelog.date <= to),
        );
      return {
        entries: found
          .toReversed()
          .slice(0, 50)
          .map(({ timelog_id, task_id, date, hours, note }) => ({
            entry: timelog_id,
            task: task_id,
            day: date,
            hours,
            comment: note,
          })),
      };
    },
  }),
  tool({
    name: 'log_time',
    title: 'Log time',
    description: 'Logs your own time on a task; today (UTC) unless a day is given.',
    scope: 'mcp:timelogs.write',
    kind: 'creates',
    required: { task, hours },
    optional: { day: date, comment: text },
    run({ task, hours, day, comment }, actor) {
      const { task_id } = actor.task(task);
      const { user_id } = actor.caller;
      return {
        entry: actor.carryOut('/timelogs/create', { task_id, user_id, date: day ?? actor.today, hours, note: comment }),
      };
    },
  }),
];

import { refuse } from '../../refusal.ts';
import { find } from '../../store.ts';
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
  tool({
    name: 'correct_time',
    title: 'Correct a time entry',
    description: 'Changes one of your own time entries.',
    scope: 'mcp:timelogs.write',
    kind: 'changes',
    required: { entry: { ...text, description: 'Identifier of a time entry' } },
    optional: { hours, day: date, comment: text },
    run({ entry, hours, day, comment }, actor) {
      const before = find(actor.visible(actor.store.data.timelogs), 'timelog_id', entry);
      if (before?.user_id !== actor.caller.user_id) return refuse(404, 'Time entry not found');
      const note = comment ?? before.note;
      const timelog = { ...before, hours: hours ?? before.hours, date: day ?? before.date, note, description: note };
      actor.store.put('timelogs', timelog);
      return { entry: timelog };
    },
  }),
];

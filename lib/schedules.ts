import type { QueueName } from './config/queues.ts';

export interface Schedule {
  /** The name of the schedule's file in functions/. */
  slug: string;
  /** Fires at the minutes of the hour, in UTC, that are multiples of this. */
  everyMinutes: 1 | 15 | 60;
  /** True if a run uses the time for which it was fired. All others use the current state, however late they run. */
  takesTime: boolean;
  timeoutSeconds: number;
  /** The permissions and resources in a deployment. On one machine, everything is available. */
  needs: {
    /** The secrets that the function reads; `partner` means the secrets of all connections. */
    secrets: readonly ('github' | 'slack' | 'partner')[];
    queues: readonly QueueName[];
    /** True if the function counts the dead letters of these queues. */
    deadLetters?: true;
    /** True if the function calls the service, which may be inside a company's network. */
    service: boolean;
  };
  /** The work that stops while the function does not run, and who is affected. */
  broken: string;
}

export interface ScheduleEvent {
  /** The time for which the schedule fired, in ISO 8601 with its zone; without it, now. */
  at?: string;
  /** Runs only this schedule of the team, at that time. */
  own?: string;
}

/**
 * Returns the event that runs a schedule now.
 * @param at the time that the run uses
 * @throws {Error} for an unknown schedule, and for a time that the schedule does not accept
 */
export function eventNow(slug: string, at: Date | undefined): ScheduleEvent {
  const schedule = schedules.find((one) => one.slug === slug);
  if (!schedule) throw new Error(`there is no schedule '${slug}'`);
  if (at && !schedule.takesTime) throw new Error(`${slug} does not accept --at, because it works on the current state`);
  return at ? { at: at.toISOString() } : {};
}

/** All schedules. infra/schedules.ts deploys them, and local/schedules.ts fires them on one machine. */
export const schedules: readonly Schedule[] = [
  {
    slug: 'job-sweep',
    everyMinutes: 1,
    takesTime: false,
    // Ends before the next sweep, a minute later.
    timeoutSeconds: 55,
    needs: {
      // For the notices of parked jobs.
      secrets: ['slack'],
      queues: ['interactive', 'background'],
      deadLetters: true,
      service: false,
    },
    broken: 'jobs whose message was lost, or whose time has come, do not continue.',
  },
  {
    slug: 'credential-check',
    everyMinutes: 60,
    takesTime: false,
    // Two tries of each credential, all at the same time.
    timeoutSeconds: 120,
    needs: { secrets: ['github', 'slack', 'partner'], queues: [], service: true },
    broken: 'an expired or revoked key is noticed only when an event fails.',
  },
  {
    slug: 'github-redelivery',
    everyMinutes: 15,
    takesTime: false,
    // The function ends by itself after four minutes.
    timeoutSeconds: 300,
    needs: { secrets: ['github'], queues: [], service: false },
    broken: 'GitHub events that arrived while the relay could not accept them stay lost.',
  },
  {
    slug: 'due-schedules',
    everyMinutes: 15,
    takesTime: true,
    timeoutSeconds: 60,
    needs: { secrets: [], queues: ['background'], service: false },
    broken: 'people are not reminded of their timesheets, leads get no summary, and your own schedules create no jobs.',
  },
];

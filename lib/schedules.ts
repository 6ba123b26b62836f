import type { QueueName } from './jobs/queue.ts';

/** A function that the clock fires. */
export interface Schedule {
  /** Of its file in functions/. */
  slug: string;
  /** It fires at the minutes of the hour, in UTC, that this divides. */
  everyMinutes: 1 | 15 | 60;
  /** Whether it works as of the time that it was fired for. The others look at what there is now, however late. */
  takesTime: boolean;
  timeoutSeconds: number;
  /** What only a deployment can give or refuse; on one machine everything is there. */
  needs: {
    memoryMegabytes: number;
    /** What it reads; `partner` is the secrets of all connections. */
    secrets: readonly ('github' | 'slack' | 'partner')[];
    /** The queues that it sends to. */
    queues: readonly QueueName[];
    /** Whether it calls the service, perhaps inside a company's network. */
    service: boolean;
  };
  /** What stays undone, and for whom, while it does not run. */
  broken: string;
}

/** What a scheduled function is invoked with. */
export interface ScheduleEvent {
  /** The time that it was fired for, in ISO 8601 with its zone; without it, now. */
  at?: string;
}

/** Every schedule there is: infra/schedules.ts deploys them, and local/schedules.ts fires them on one machine. */
export const schedules: readonly Schedule[] = [
  {
    slug: 'job-sweep',
    everyMinutes: 1,
    takesTime: false,
    // The next sweep comes a minute later.
    timeoutSeconds: 55,
    needs: {
      memoryMegabytes: 256,
      secrets: [],
      queues: ['interactive', 'background'],
      service: false,
    },
    broken: 'jobs whose message was lost, or whose time has come, do not go on.',
  },
  {
    slug: 'credential-check',
    everyMinutes: 60,
    takesTime: false,
    // Two tries of each holder, all of them at the same time.
    timeoutSeconds: 120,
    needs: {
      memoryMegabytes: 256,
      secrets: ['github', 'slack', 'partner'],
      queues: [],
      service: true,
    },
    broken: 'a key that ends or is revoked shows only when the event of somebody fails on it.',
  },
  {
    slug: 'github-redelivery',
    everyMinutes: 15,
    takesTime: false,
    // It ends by itself after four minutes.
    timeoutSeconds: 300,
    needs: {
      memoryMegabytes: 256,
      secrets: ['github'],
      queues: [],
      service: false,
    },
    broken: 'what somebody did in GitHub while the relay could not take it stays lost.',
  },
  {
    slug: 'timesheet-reminder',
    everyMinutes: 15,
    takesTime: true,
    timeoutSeconds: 60,
    needs: {
      memoryMegabytes: 256,
      secrets: [],
      queues: ['background'],
      service: false,
    },
    broken: 'people are not reminded of their timesheets, and leads get no summary.',
  },
];

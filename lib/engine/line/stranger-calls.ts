import type { StrangerShare } from '../../service/budget/stranger-share.ts';
import type { Connection } from '../../service/connection/connection.ts';
import { RetryAt } from '../record/interruption.ts';

/** The calls of a job that an outside contributor caused. */
export interface StrangerCalls {
  /** @throws {RetryAt} if the outside contributors' share of the day is used up */
  ensureShare(): Promise<void>;
  /**
   * Counts a call.
   * @throws {RetryAt} as above
   */
  take(): Promise<void>;
}

export interface StrangerCallsOptions {
  share: StrangerShare;
  /** The person who caused the job. */
  login: string;
  connection: Pick<Connection, 'name' | 'limits' | 'strangersShare'>;
  report: (news: { news: 'strangers wait'; who: readonly string[] }) => void;
}

export function createStrangerCalls({ share, login, connection, report }: StrangerCallsOptions): StrangerCalls {
  const { name, limits, strangersShare } = connection;
  const most = mostOfStrangers(limits, strangersShare);

  async function untilTomorrow(): Promise<RetryAt> {
    const { who, endsAt } = await share.today(name);
    report({ news: 'strangers wait', who });
    return new RetryAt(endsAt, `the ${most} calls per day for outside contributors are used up`, {
      releasesQueueGroup: true,
      waitsFor: 'budget',
    });
  }

  return {
    async ensureShare() {
      if ((await share.today(name)).used >= most) throw await untilTomorrow();
    },
    async take() {
      if (!(await share.take(name, login, most))) throw await untilTomorrow();
    },
  };
}

/** The share in calls per day. */
export function mostOfStrangers(limits: { perDay: number }, strangersShare: number): number {
  return Math.floor(limits.perDay * strangersShare);
}

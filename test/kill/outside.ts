import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Job } from '../../lib/engine/record/job.ts';
import { functionUrlEvent } from '../../local/http-front.ts';
import type { SlackStandIn } from '../../local/slack/stand-in.ts';
import { TEAM_ID } from '../../local/slack/workspace.ts';
import type { TestClock } from '../relay.ts';
import { githubDelivery, type Incoming, type Posted, slackRequest } from './incoming.ts';
import type { Host } from './killable-hosts.ts';
import type { FunctionSlug, Typed } from './trial.ts';

/** GitHub, and people in Slack. */
export interface Outside {
  /** @returns whether it was answered with 2xx */
  bring(incoming: Incoming): Promise<boolean>;
  /** Ids of jobs that GitHub was told of with 2xx. */
  acknowledged: readonly string[];
  /** What people typed, in its order. */
  typed: readonly Typed[];
}

export interface OutsideOptions {
  clock: TestClock;
  slack: SlackStandIn;
  /** @returns undefined where the host stopped meanwhile */
  invoke<T>(slug: FunctionSlug, call: (host: Host) => Promise<T>): Promise<T | undefined>;
  /** Whether a webhook may answer with an error. */
  mayFail: boolean;
}

export function createOutside({ clock, slack, invoke, mayFail }: OutsideOptions): Outside {
  const acknowledged: string[] = [];
  const typed: Typed[] = [];

  /** @returns undefined where it was not answered with 2xx */
  async function post({ url, headers, body }: Posted): Promise<APIGatewayProxyStructuredResultV2 | undefined> {
    const event = functionUrlEvent({ method: 'POST', url, headers }, url, body);
    const answer =
      url === '/github'
        ? await invoke('github-webhook', (on) => on.githubWebhook()(event))
        : await invoke('slack-webhook', (on) => on.slackWebhook()(event));
    const status = answer?.statusCode ?? 200;
    // What the person reads then does not say that it was taken.
    if (mayFail && answer?.body?.includes('AWS does not answer')) return undefined;
    if (status < 300) return answer;
    if (status >= 500 && mayFail) return undefined;
    throw new Error(`the webhook answered ${status}: ${answer?.body}`);
  }

  /** Somebody types a command. */
  async function type({ text, userId, channelId }: Incoming & { from: 'slack command' }): Promise<boolean> {
    const triggerId = slack.makeTriggerId(userId);
    const form = {
      command: '/pm',
      team_id: TEAM_ID,
      text,
      user_id: userId,
      user_name: 'mira',
      channel_id: channelId,
      response_url: slack.makeResponseUrl({ userId, channelId }),
      trigger_id: triggerId,
    };
    const answer = await post(slackRequest(form, clock.now));
    if (answer && !answer.body?.includes('Working on it'))
      throw new Error(`the command was answered with: ${answer.body}`);
    typed.push({ triggerId, isAnswered: answer !== undefined });
    return answer !== undefined;
  }

  return {
    acknowledged,
    typed,
    async bring(incoming) {
      switch (incoming.from) {
        case 'slack command':
          return type(incoming);
        case 'slack modal': {
          const answer = await post(slackRequest({ payload: JSON.stringify(incoming.payload) }, clock.now));
          if (answer?.body) throw new Error(`the modal stays open: ${answer.body}`);
          return answer !== undefined;
        }
        case 'github': {
          const answer = await post(githubDelivery(incoming.event, incoming.payload));
          if (answer) acknowledged.push(...(JSON.parse(answer.body ?? '') as { jobs: string[] }).jobs);
          return answer !== undefined;
        }
      }
    },
  };
}

/** Whether the job became of that command. */
export function isOf({ cause }: Job, { triggerId }: Typed): boolean {
  return cause?.from === 'slack' && cause.id === triggerId;
}

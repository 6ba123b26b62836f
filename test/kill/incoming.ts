import { randomUUID } from 'node:crypto';
import { githubSignature } from '../relay.ts';
import { slackSignature } from '../slack-requests.ts';

/** What comes from outside. What is not answered with 2xx comes again, each kind in its own way. */
export type Incoming =
  /** GitHub redelivers it as it was. */
  | { from: 'github'; event: string; payload: object }
  /** Slack does not. The person types it again, which is another command with a trigger_id of its own. */
  | { from: 'slack command'; text: string; userId: string; channelId: string }
  /** The modal stays open with an error, and the person sends it off again. */
  | { from: 'slack modal'; payload: object };

/** Bytes as they arrive at a function URL. */
export interface Posted {
  url: '/github' | '/slack';
  headers: Record<string, string>;
  body: Buffer;
}

export function githubDelivery(event: string, payload: object): Posted {
  const body = Buffer.from(JSON.stringify(payload));
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': githubSignature(body),
  };
  return { url: '/github', headers, body };
}

/** @param now epoch milliseconds */
export function slackRequest(fields: Record<string, string>, now: number): Posted {
  const body = Buffer.from(new URLSearchParams(fields).toString());
  const timestamp = String(Math.floor(now / 1000));
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': slackSignature(body, timestamp),
  };
  return { url: '/slack', headers, body };
}

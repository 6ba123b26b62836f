import { describe, expect, it } from 'vitest';
import { publicWebhookUrl } from '../../cli/public-url.ts';

const at = (origin: string) => async () => ({
  githubWebhookUrl: `${origin}/github`,
  slackWebhookUrl: `${origin}/slack`,
});
const unopened = () => Promise.reject(new Error('a relay was looked up'));

describe('the addresses in the manifests', () => {
  it.each([
    ['https://relay.example.com', 'https://relay.example.com/github', 'https://relay.example.com/slack'],
    ['https://example.com/relay/', 'https://example.com/relay/github', 'https://example.com/relay/slack'],
  ])('--url %s is the base address, to which the paths are added', async (base, github, slack) => {
    expect(await publicWebhookUrl('GitHub', base, unopened)).toBe(github);
    expect(await publicWebhookUrl('Slack', base, unopened)).toBe(slack);
  });

  it.each([
    ['relay.example.com', /expected the public address of the relay, such as https/],
    ['ftp://relay.example.com', /begins with https/],
    ['https://relay.example.com/?a=1', /without a query/],
    ['http://127.0.0.1:8787', /which GitHub cannot reach/],
    ['https://relay.example.com/github', /use https:\/\/relay\.example\.com, without \/github$/],
    ['https://relay.example.com/slack/commands', /use https:\/\/relay\.example\.com, without \/slack\/commands$/],
  ])('--url %s is refused', async (base, expected) => {
    await expect(publicWebhookUrl('GitHub', base, unopened)).rejects.toThrow(expected);
  });

  it('a stage has its own addresses, and addresses of this machine are refused', async () => {
    const deployed = at('https://relay.example.com');
    expect(await publicWebhookUrl('GitHub', undefined, deployed)).toBe('https://relay.example.com/github');
    for (const sender of ['GitHub', 'Slack'] as const) {
      await expect(publicWebhookUrl(sender, undefined, at('http://127.0.0.1:8787'))).rejects.toThrow(
        `the relay of this machine is at http://127.0.0.1:8787, which ${sender} cannot reach: name the public address`,
      );
    }
  });
});

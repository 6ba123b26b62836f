import type { CustomAutomation } from '../lib/triggers/custom-automation.ts';

/** What an automation of the team is for: `on release.published of GitHub`. @param command what Slack's users type first */
export function triggerInWords(one: CustomAutomation, command = '/pm'): string {
  switch (one.kind) {
    case 'github':
      return `on ${one.events.join(', ')} of GitHub${one.by === 'anyone' ? ', by anyone' : ''}`;
    case 'command':
      return `on ${command} ${one.usage}${one.inComments ? ', in comments too' : ''}`;
    case 'schedule':
      return `at ${one.cron} in ${one.timeZone}`;
    case 'webhook': {
      const { verify } = one;
      return `on POST /hooks/${one.name}, verified by ${verify.by === 'standard' ? 'Standard Webhooks' : verify.header}`;
    }
  }
}

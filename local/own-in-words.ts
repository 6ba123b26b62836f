import type { CustomAutomation } from '../lib/triggers/custom-automation.ts';

/**
 * What starts a team's automation: `on release.published of GitHub`. @param command the first word that users type in
 * Slack
 */
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

import { type CustomAutomations, customOf } from '../triggers/custom-automation.ts';
import type { RelayConfig } from './schema.ts';
import { linksAccounts, takesLinkedAccounts } from './settings.ts';

/** Lists the secrets of a stage, and the content of each. */
export function stageSecrets(config: RelayConfig, custom: CustomAutomations): Readonly<Record<string, string>> {
  const connections = Object.keys(config.connections);
  const teams = config.timesheets?.teams.flatMap(({ name, absence }) => (absence.calendar ? name : [])) ?? [];
  const isLinked = takesLinkedAccounts(config);
  const each = (kind: string, names: readonly string[], holds: string) =>
    Object.fromEntries(names.map((name) => [`${kind}/${name}`, holds]));
  return {
    'github-webhook': 'Webhook secret, which github-webhook checks signatures with',
    github: 'The App or the token that comments',
    ...(config.slack && { slack: 'Signing secret, and the token of the app that answers' }),
    ...(customOf(custom, 'webhook').length > 0 && { hooks: 'Secrets of the webhooks of the team' }),
    ...(isLinked && { grants: 'Key that seals the grants of people in the table' }),
    markers: 'Key of the markers, by which the relay finds again what it created',
    ...(isLinked && { intake: 'Key that webhooks sign the jobs of people with' }),
    ...each(
      'instance',
      linksAccounts(config) ? connections : [],
      'Base URL of the service, for the pages that link accounts',
    ),
    ...each('partner', connections, 'Base URL, API key and secret key of the service'),
    ...each('calendar', teams, 'Address of the calendar of absences of a team'),
  };
}

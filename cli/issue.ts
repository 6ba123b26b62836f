import { loadConfig } from '../lib/config/config-file.ts';
import { localTime } from '../lib/dates.ts';
import { heldBy, type IssueName, type Link } from '../lib/links/link-life.ts';
import { createLinks } from '../lib/links/links.ts';
import { createRelations, type Relations } from '../lib/links/relations.ts';
import { decideLink, findIssue, type LinkDecision } from '../lib/operators/decide-link.ts';
import { createGithubClient } from '../lib/platforms/github/github-client.ts';
import { withGithubAt } from '../local/local-github.ts';
import { oneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { verifyingWith } from './decide.ts';
import { operatorOf } from './operator.ts';
import { printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

interface LinkOptions {
  set?: string;
  steal?: boolean;
  clear?: boolean;
  json?: boolean;
}

/** `issue`: shows which defect an issue has, or records a person's decision about it. */
export const define: Define = (command, { open }) =>
  command
    .arguments('<issue>')
    .description('show which defect an issue has, or change it; write an issue as owner/repo#42')
    .option(
      '--set <defect id>',
      'the issue has this defect, which is checked with the service; the next event updates it from the issue',
    )
    .option('--steal', 'with --set: even if the relay made the defect for another issue or job, which keeps it')
    .option('--clear', 'the issue has no defect; the next event creates one if the issue should have one')
    .option('--json', 'as JSON')
    .action(async (text: string, options: LinkOptions) => {
      if (options.set !== undefined && options.clear) throw new Error('use only one of --set and --clear');
      if (options.steal && options.set === undefined) throw new Error('use --steal with --set');
      const target = await open();
      const { stores } = target;
      const config = withGithubAt(target.githubStandIn, await loadConfig());
      const github = createGithubClient({ ...stores, apiUrl: config.github.apiUrl, clock: Date.now, fetch });
      const issue = await findIssue(text, stores, github);
      const decision = await decisionOf(options, open);
      if (decision !== undefined) await decideLink(issue, decision, { ...stores, config, by: operatorOf(target) });
      const link = await createLinks(stores.table, stores.clock).look(issue.entity);
      const { claim, defect } = heldBy(link);
      const linkedTo = claim && defect ? await createRelations(stores.table).of({ ...claim, id: defect.id }) : [];
      if (options.json) printJson({ entity: issue.entity, ...link, linkedTo });
      else for (const line of linkLines(issue, link, linkedTo)) console.log(line);
    });

async function decisionOf(
  { set, steal = false, clear }: LinkOptions,
  open: OpenTarget,
): Promise<LinkDecision | undefined> {
  if (set !== undefined) return { set, verify: await verifyingWith(open), steal };
  return clear ? 'clear' : undefined;
}

function linkLines({ name, entity }: IssueName, link: Link, linkedTo: Awaited<ReturnType<Relations['of']>>): string[] {
  const { claim, defect } = heldBy(link);
  const { newest } = link;
  const facts: [string, string | undefined][] = [
    ['link', entity],
    ['is', inWords(link)],
    ['linked to', linkedTo.map(({ kind, id }) => `${kind} ${id}`).join(', ') || undefined],
    ['connection', claim?.connection],
    ['issue', newest && `${newest.state.state}, labels ${newest.state.labels.join(', ') || 'none'}`],
    [
      'state of',
      newest && `${localTime(Date.parse(newest.version))}${newest.tied ? ', one of several in the same second' : ''}`,
    ],
    ['arrived', link.arrived && `${link.arrived.from}, with a claim or a defect of its own`],
    ['title', newest?.state.title],
    [
      'updates',
      defect && `${defect.updates}${defect.updating ? `; outcome unknown for: ${defect.updating.fields}` : ''}`,
    ],
  ];
  return [
    name,
    ...facts.flatMap(([fact, value]) => (value === undefined ? [] : [`  ${fact.padEnd(12)} ${oneLine(value)}`])),
  ];
}

function inWords(link: Link): string {
  switch (link.life) {
    case 'unclaimed':
      return link.cleared
        ? `without a defect: a person cleared it at ${localTime(link.cleared.at)}`
        : 'without a defect';
    case 'unreadable':
      return `not as the relay writes it: ${link.wrong.join(', ')}. Set the defect that the issue has with --set, or use --clear`;
    case 'claimed':
      return `not known; the job that is to create it shows more: npx partner-relay job ${link.claim.by}`;
    case 'made':
      return `defect ${link.defect.id}, claimed by ${link.claim.by}`;
    case 'moved':
      return `transferred to ${link.to.name}`;
  }
}

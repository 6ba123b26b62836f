import { repositoryName } from '../../lib/config/schema.ts';
import { instanceRoot } from '../../lib/service/partner/base-url.ts';
import { createPartnerClient } from '../../lib/service/partner/client.ts';
import { listProjects } from '../../lib/service/partner/operations/projects.ts';
import { pages, rowsOf } from '../../lib/service/partner/pages.ts';
import { messageOf } from '../../lib/text.ts';
import { type Partner, partnerFromEnvironment } from '../../local/partners.ts';
import { oneLine } from '../../local/terminal.ts';
import { webhookUrlBelow } from '../public-url.ts';
import type { FirstSettings } from './config-text.ts';

/** The options of `partner-relay init`. At a terminal, it asks for missing ones. */
export interface InitOptions {
  repo?: string;
  label?: string[];
  project?: string;
  slack?: boolean;
  githubApp?: boolean;
  url?: string;
}

/** How to ask a person. Undefined without a terminal. */
export interface Terminal {
  ask(question: string, byDefault?: string): Promise<string>;
  askHidden(question: string): Promise<string>;
  tell(line: string): void;
}

/** "Web Shop", a project in a new sandbox. */
const SANDBOX_PROJECT = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';

const PROJECT_PAGES = 20;

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the instance that the variables name or a person types; undefined for the sandbox. */
export async function askForPartner(
  terminal: Terminal | undefined,
  variables: Variables,
): Promise<Partner | undefined> {
  const named = partnerFromEnvironment(variables);
  if (named) return named;
  if (!terminal) return undefined;
  for (;;) {
    const baseUrl = await askUntilGood(terminal, 'Base URL of the service (empty for the sandbox)', (answer) =>
      answer === '' ? undefined : faultIn(() => instanceRoot(answer)),
    );
    if (!baseUrl) return undefined;
    const apiKey = await terminal.askHidden('API key (not shown)');
    const partner = { baseUrl, apiKey, secretKey: await terminal.askHidden('Secret key (not shown)') };
    const fault = await projectsOf(partner).then(() => undefined, messageOf);
    if (fault === undefined) return partner;
    terminal.tell(`The service cannot be used: ${oneLine(fault)}. Enter it again, or leave it empty for the sandbox.`);
  }
}

/** Asks for the settings. @throws {Error} without a terminal; the message names the missing options */
export async function askForSettings(
  options: InitOptions,
  terminal: Terminal | undefined,
  partner: Partner | undefined,
): Promise<FirstSettings> {
  const repository = options.repo ?? (await askForRepository(terminal));
  const labels = options.label ?? [(await terminal?.ask('Labels of issues that become defects', 'bug')) ?? 'bug'];
  const projectId = options.project ?? (await chooseProject(partner, terminal));
  const withSlack = options.slack ?? (await confirm(terminal, 'Use Slack?', false));
  return { repository, labels: labels.flatMap(namesIn), projectId, withSlack };
}

async function askForRepository(terminal: Terminal | undefined): Promise<string> {
  if (!terminal) throw new Error('name the repository: --repo owner/name');
  return askUntilGood(terminal, 'Repository on GitHub, as owner/name', (answer) =>
    repositoryName.safeParse(answer).success ? undefined : `expected owner/name, found '${answer}'`,
  );
}

/** Splits `bug, incident` into two labels. GitHub writes lists of labels in this form, too. */
function namesIn(labels: string): string[] {
  return labels.split(',').flatMap((label) => label.trim() || []);
}

/** Asks until the answer is valid, so that a mistake does not lose the earlier answers. */
async function askUntilGood(
  terminal: Terminal,
  question: string,
  faultOf: (answer: string) => string | undefined,
): Promise<string> {
  for (;;) {
    const answer = await terminal.ask(question);
    const fault = faultOf(answer);
    if (fault === undefined) return answer;
    terminal.tell(fault);
  }
}

function faultIn(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Whether to create a GitHub App. The sandbox needs none. */
export async function askForGithubApp(
  options: InitOptions,
  terminal: Terminal | undefined,
  usesSandbox: boolean,
): Promise<boolean> {
  return options.githubApp ?? (await confirm(terminal, 'Create a GitHub App now?', !usesSandbox));
}

/** The public base address of a relay on this machine; undefined if it has none yet. */
export async function askForUrl({ url }: InitOptions, terminal: Terminal | undefined): Promise<string | undefined> {
  if (url !== undefined || !terminal) return url;
  const question = 'Public https address of the relay (empty if it has none yet)';
  const faultOf = (answer: string) => (answer === '' ? undefined : faultIn(() => webhookUrlBelow(answer, 'GitHub')));
  return (await askUntilGood(terminal, question, faultOf)) || undefined;
}

/** Lists the projects of the instance, which also shows whether the key is right. */
async function chooseProject(partner: Partner | undefined, terminal: Terminal | undefined): Promise<string> {
  if (!partner) return SANDBOX_PROJECT;
  const { rows, isWhole } = await projectsOf(partner);
  const lines = rows.map(({ project_id, name }) => `  ${project_id}  ${oneLine(name ?? '')}`).join('\n');
  const [only] = rows;
  if (rows.length === 1 && only) return only.project_id;
  if (!terminal) throw new Error(`name the project of the defects: --project <id>. The service has\n${lines}`);
  terminal.tell(`Projects of the service:\n${lines}`);
  return askUntilGood(terminal, 'Id of the project of the defects', (answer) =>
    !isWhole || rows.some(({ project_id }) => project_id === answer)
      ? undefined
      : 'expected the id of one of these projects',
  );
}

async function projectsOf(partner: Partner) {
  return rowsOf(pages(createPartnerClient(partner).call, listProjects, {}, PROJECT_PAGES));
}

export async function confirm(terminal: Terminal | undefined, question: string, byDefault: boolean): Promise<boolean> {
  if (!terminal) return false;
  const answer = await askUntilGood(terminal, `${question} ${byDefault ? 'Y/n' : 'y/N'}`, (answer) =>
    /^(y(es)?|no?)?$/i.test(answer) ? undefined : 'expected y or n',
  );
  return answer === '' ? byDefault : /^y/i.test(answer);
}

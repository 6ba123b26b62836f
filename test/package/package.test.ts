import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportsIn } from '../../pack/interface.ts';
import { startChild } from '../child.ts';
import { CDK, install, managers, newFolder, pack, ROOT, run } from './installed.ts';

type Manager = keyof typeof managers;

const MINUTE_MS = 60_000;
const BIN = 'node_modules/.bin/partner-relay';
const TSC = ['node_modules/.bin/tsc', '--skipLibCheck', 'false'];
/** One folder for each package manager. */
const teams = { npm: newFolder(), pnpm: newFolder() };
const folders = Object.values(teams);
let packed: Awaited<ReturnType<typeof pack>>;

beforeAll(async () => {
  packed = await pack();
  folders.push(packed.folder);
}, 2 * MINUTE_MS);

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe("a team's work succeeds", { timeout: 4 * MINUTE_MS }, () => {
  it.concurrent.each(Object.keys(managers) as Manager[])('in a folder without the CDK: %s', async (manager) => {
    const folder = teams[manager];
    const relay = (...words: string[]) => run(folder, [BIN, ...words]);
    await install(folder, manager, packed.tarball, 'typescript');
    await relay('init', '--repo', 'acme/web', '--no-slack', '--no-github-app');
    expect(await relay('config', 'check')).toContain('The configuration is valid.');
    await relay('new', 'automation', 'release-note', '--on', 'release.published');
    expect(await relay('test')).toMatch(/release-note calls nothing yet[\s\S]* tests, all as expected/);
    await run(folder, TSC);

    const automation = readFileSync(join(folder, 'automations/release-note.ts'), 'utf8');
    const misspelt = join(folder, 'automations/misspelt.ts');
    writeFileSync(misspelt, automation.replace('release.html_url', 'release.htm_url'));
    await expect(run(folder, TSC)).rejects.toThrow(/misspelt\.ts.*Property 'htm_url' does not exist/);
    rmSync(misspelt);

    const started = startChild(['node_modules/partner-relay/cli/bin.js', 'start'], folder, { PORT: '0' });
    const [, url] = await started.printed(/(http:\S+)\/#token=/);
    expect(await relay('send', 'issues')).toContain('1 job: ');
    await started.printed('created defect');
    expect(await relay('jobs')).toContain('In all: 1 succeeded.');
    for (const page of ['/', '/console.js', '/docs/slack.md', '/CHANGELOG.md']) {
      expect((await fetch(`${url}${page}`)).status, page).toBe(200);
    }
    await started.kill();
  });

  it("with the CDK: the stack is the repository's except for assets, also in the team's app", async () => {
    const folder = teams.npm;
    await install(folder, 'npm', packed.tarball, ...CDK);
    writeFileSync(
      join(folder, 'app.ts'),
      `import { App, Stack } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import flags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { RelayStack, relayOf } from 'partner-relay/cdk';

const app = new App({ context: flags });
new Topic(new Stack(app, 'another'), 'topic');
new RelayStack(app, 'partner-relay-dev', await relayOf('dev'));
app.synth();
`,
    );
    await run(folder, [BIN, '--stage', 'dev', 'build', '--output', 'built']);
    await run(folder, [process.execPath, 'app.ts'], { CDK_OUTDIR: 'own' });
    await run(folder, [process.execPath, join(ROOT, 'infra/app.ts')], { CDK_OUTDIR: 'repository' });
    const template = (output: string) =>
      readFileSync(join(folder, output, 'partner-relay-dev.template.json'), 'utf8').replaceAll(
        /[0-9a-f]{64}/g,
        'ASSET',
      );
    expect(template('built')).toBe(template('repository'));
    expect(template('own')).toBe(template('repository'));
    expect(globSync('own/*.template.json', { cwd: folder }).sort()).toEqual([
      'own/another.template.json',
      'own/partner-relay-dev.template.json',
    ]);
    await run(folder, TSC);
  });

  const [old] = (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, 'node'))
    .filter(
      (node) => existsSync(node) && Number(execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1, 3)) < 24,
    );

  it.skipIf(old === undefined)('with only an older Node, the command says which one it needs', async () => {
    const help = run(teams.npm, [old ?? '', 'node_modules/partner-relay/cli/bin.js', '--help'], { PATH: '/nowhere' });
    await expect(help).rejects.toThrow(/--help\nPartner Relay needs Node 24, and this is [\d.]+\. Install Node .*\n$/);
  });
});

describe('the package', () => {
  const textOf = (file: string) => readFileSync(join(packed.files, file), 'utf8');

  it('has the same bytes when it is built again', { timeout: 2 * MINUTE_MS }, async () => {
    const again = await pack();
    folders.push(again.folder);
    expect(readFileSync(again.tarball).equals(readFileSync(packed.tarball))).toBe(true);
  });

  it('has these kinds of files', async () => {
    const files = globSync('**/*', { cwd: packed.files, withFileTypes: true }).filter((one) => one.isFile());
    const kinds = files.map(({ parentPath, name }) => {
      const [top = '', ...folders] = relative(packed.files, parentPath).split('/');
      if (top === '') return `${name}\n`;
      // Below that, the sources determine the code's places.
      return name.endsWith('.js')
        ? `${top}/**/*.js\n`
        : `${[top, ...folders].join('/')}/*${name.slice(name.indexOf('.'))}\n`;
    });
    await expect([...new Set(kinds)].sort().join('')).toMatchFileSnapshot('files.txt');
  });

  it('has the files to which its pages link, and those in their commands', () => {
    const targets = globSync(['*.md', 'docs/**/*.md'], { cwd: packed.files }).flatMap((page) => {
      const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, path = '']) =>
        join(page, '..', path),
      );
      const named = [...textOf(page).matchAll(/node_modules\/partner-relay\/([\w./-]*\w)/g)].map(
        ([, path = '']) => path,
      );
      return [...links, ...named];
    });
    expect(targets).toContain('docs/guides/junit');
    expect(targets.filter((path) => !existsSync(join(packed.files, path)))).toEqual([]);
  });

  it.each(['exports', 'steps'] as const)(
    'has the public interface of docs/api/%s.txt, which npm run docs writes',
    (name) => {
      expect(exportsIn(packed.files)[name]).toBe(readFileSync(join(ROOT, `docs/api/${name}.txt`), 'utf8'));
    },
  );

  it('imports only its own files, its dependencies, optional peers and Node', async () => {
    // Synth writes two files, the bin looks for one of the repository, and esbuild adds code of its own.
    const elsewhere = ['./relay.config.mjs', './automations.mjs', './relay.ts', '<runtime>'];
    const { metafile } = await build({
      entryPoints: globSync('**/*.{js,mjs}', { cwd: packed.files }),
      absWorkingDir: packed.files,
      bundle: true,
      packages: 'external',
      external: elsewhere,
      platform: 'node',
      format: 'esm',
      splitting: true,
      entryNames: '[dir]/[name]-[hash]',
      outdir: 'none',
      write: false,
      metafile: true,
      logLevel: 'error',
    });
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external),
    );
    const required = globSync('**/*.js', { cwd: packed.files }).flatMap((file) =>
      [...textOf(file).matchAll(/(?:resolve|\(import\.meta\.url\))\('([^./][^']*)'\)/g)].map(([, name = '']) => name),
    );
    const { dependencies, peerDependencies } = JSON.parse(textOf('package.json'));
    const known = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
    const names = [...imported.map(({ path }) => path), ...required];
    const unknown = names.filter(
      (name) => !isBuiltin(name) && !elsewhere.includes(name) && !known.some((one) => `${name}/`.startsWith(`${one}/`)),
    );
    expect([...new Set(unknown)]).toEqual([]);
    // Types are for the team's compiler.
    const unused = Object.keys(dependencies).filter(
      (one) => !one.startsWith('@types/') && !names.some((name) => `${name}/`.startsWith(`${one}/`)),
    );
    expect(unused).toEqual([]);
    expect(Object.values(dependencies).filter((version) => !/^\d/.test(String(version)))).toEqual([]);
  });

  it('names no source file of the repository', () => {
    // cli/bin.js starts both.
    const files = globSync('*/**/*.{js,mjs}', { cwd: packed.files, exclude: ['cli/bin.js'] });
    const named = files.flatMap((file) =>
      [...textOf(file).matchAll(/['"`]([^'"`\s]*(?<!\.d)\.ts)['"`]/g)].flatMap(([, name = '']) =>
        (name.startsWith('.') && name.includes('/')) || (name !== '.ts' && existsSync(join(ROOT, file, '..', name)))
          ? `${file}: ${name}`
          : [],
      ),
    );
    expect(named).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { bundleDeploy } from '../cli/deploy/bundle.ts';
import { buildPages } from '../console/build.ts';
import { buildFunction } from '../infra/bundle/function-build.ts';
import { compile, declare } from './declarations.ts';
import { manifest } from './manifest.ts';

// npm run pack: builds the package in dist/package, and partner-relay-<version>.tgz from it. `npm run pack -- FOLDER`
// writes both to that folder. The package does not contain the source maps of the functions.
const ROOT = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? ROOT);
const dist = join(folder, 'dist/package');
const sourceMaps = join(folder, 'dist/source-maps');

rmSync(join(folder, 'dist'), { recursive: true, force: true });
await Promise.all([compile('tsconfig.json', dist), declare(dist)]);
await writePages();
for (const file of globSync('functions/*.ts', { cwd: ROOT })) {
  const slug = basename(file, '.ts');
  buildFunction(slug, join(dist, 'functions', slug), join(sourceMaps, slug));
}
bundleDeploy(join(dist, 'cli/deploy/deploy.mjs'));
copy(['*.md', 'LICENSE', 'NOTICE', 'cli/*.js', 'docs/*.{md,svg}', 'docs/*/**/*.*', 'pack/tsconfig.team.json']);
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, dist], { stdio: 'inherit' });

async function writePages(): Promise<void> {
  const web = join(dist, 'console/web');
  // The command line and the pages share a file.
  mkdirSync(web, { recursive: true });
  for (const [name, contents] of Object.entries(await buildPages())) writeFileSync(join(web, name), contents);
}

function copy(patterns: string[]): void {
  for (const file of globSync(patterns, { cwd: ROOT })) cpSync(join(ROOT, file), join(dist, file));
}

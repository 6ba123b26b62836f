import root from '../package.json' with { type: 'json' };

const PEERS = ['aws-cdk', 'aws-cdk-lib', 'constructs'] as const;

/** The package.json of the package: that of the repository, as far as it is about what a team installs. */
export function manifest(): object {
  const { name, version, description, license, engines, type, bin, exports, sideEffects, dependencies } = root;
  // A release sets it.
  const { repository } = root as { repository?: unknown };
  return {
    ...{ name, version, description, license, repository, engines, type, bin },
    exports: Object.fromEntries(Object.entries(exports).map(([entry, file]) => [entry, built(file)])),
    sideEffects: sideEffects.map(inJavaScript),
    dependencies,
    // A second copy of the CDK has other types. A team that runs on one machine needs none.
    peerDependencies: Object.fromEntries(PEERS.map((peer) => [peer, `^${root.devDependencies[peer]}`])),
    peerDependenciesMeta: Object.fromEntries(PEERS.map((peer) => [peer, { optional: true }])),
  };
}

const built = (file: string) =>
  file.endsWith('.ts') ? { types: file.replace(/\.ts$/, '.d.ts'), default: inJavaScript(file) } : file;

const inJavaScript = (file: string) => file.replace(/\.ts$/, '.js');

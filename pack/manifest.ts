import root from '../package.json' with { type: 'json' };

const PEERS = ['aws-cdk', 'aws-cdk-lib', 'constructs'] as const;

/** The package.json of the package: the parts of the repository's that a team needs. */
export function manifest(): object {
  const { name, version, description, license, engines, type, bin, exports, sideEffects, dependencies } = root;
  // A release sets the repository.
  const { repository } = root as { repository?: unknown };
  return {
    ...{ name, version, description, license, repository, engines, type, bin },
    exports: Object.fromEntries(Object.entries(exports).map(([entry, file]) => [entry, built(file)])),
    sideEffects: sideEffects.map(inJavaScript),
    dependencies,
    // Peers, because the types of a second copy of the CDK would differ, and a team that runs on one machine needs
    // none.
    peerDependencies: Object.fromEntries(PEERS.map((peer) => [peer, `^${root.devDependencies[peer]}`])),
    peerDependenciesMeta: Object.fromEntries(PEERS.map((peer) => [peer, { optional: true }])),
  };
}

const built = (file: string) =>
  file.endsWith('.ts') ? { types: file.replace(/\.ts$/, '.d.ts'), default: inJavaScript(file) } : file;

const inJavaScript = (file: string) => file.replace(/\.ts$/, '.js');

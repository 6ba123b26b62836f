import type { RelayConfig, RepositoryConfig } from './schema.ts';

/** The configured repository of that name; GitHub's names know no letter case. */
export function findRepository(config: RelayConfig, fullName: string): RepositoryConfig | undefined {
  const wanted = fullName.toLowerCase();
  return config.github.repositories.find((repository) => repository.name.toLowerCase() === wanted);
}

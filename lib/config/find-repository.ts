import type { RelayConfig, RepositoryConfig } from './schema.ts';

/** The configured repository with that name. GitHub's names are case-insensitive. */
export function findRepository(config: RelayConfig, fullName: string): RepositoryConfig | undefined {
  const wanted = fullName.toLowerCase();
  return config.github.repositories.find((repository) => repository.name.toLowerCase() === wanted);
}

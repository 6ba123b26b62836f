import type { VirtualTime } from '../service/budget/virtual-time.ts';
import { issueOf, repositoryOf } from './events.ts';

/** How long a page takes. */
const PAGE_MS = 800;
/** Numbers that no event of the simulation has. */
const FIRST_NUMBER = 1_000_000;
const SECOND_MS = 1_000;

/** GitHub's list of issues, which were there before the simulation: one a second. */
export class GithubStub {
  readonly #time: VirtualTime;
  readonly #issues: { updated_at: string }[];

  constructor(issues: number, connection: string, startsAt: number, time: VirtualTime) {
    this.#time = time;
    this.#issues = Array.from({ length: issues }, (_, index) =>
      issueOf(repositoryOf(connection), FIRST_NUMBER + index, startsAt - (issues - index) * SECOND_MS),
    );
  }

  async fetch({ searchParams }: URL): Promise<Response> {
    await this.#time.sleep(PAGE_MS);
    const since = Date.parse(searchParams.get('since') ?? '1970-01-01T00:00:00Z');
    const size = Number(searchParams.get('per_page'));
    const rest = this.#issues.filter(({ updated_at }) => Date.parse(updated_at) >= since);
    const headers = rest.length > size ? { link: '<https://api.github.com/next>; rel="next"' } : undefined;
    return Response.json(rest.slice(0, size), headers && { headers });
  }
}

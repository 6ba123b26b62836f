import { expect, it } from 'vitest';
import { deployWorkflow } from './deploy-workflow.ts';

/** The jobs of the workflow, by name. */
function jobsOf(workflow: string): Record<string, string> {
  const parts = workflow.split('\njobs:\n')[1]?.split(/^ {2}(?=\w+:$)/m) ?? [];
  return Object.fromEntries(parts.slice(1).map((text) => [text.slice(0, text.indexOf(':')), text]));
}

it('npm installs nothing where the deploying role can be assumed: only what another job has built runs there', () => {
  const { build = '', deploy = '', ...others } = jobsOf(deployWorkflow());
  expect(others).toEqual({});
  expect(deploy.match(/(?<=run: ).*/g)).toEqual(['node cdk.out/deploy.mjs']);
  expect(deploy).not.toMatch(/\bnpm\b|\bnpx\b|checkout/);
  expect(deploy).toContain('    needs: build\n');
  // A token's subject names the environment, and a job without the permission gets no token.
  expect(deploy).toMatch(/^ {4}environment: \$\{\{ inputs\.stage \}\}$/m);
  expect(deploy).toMatch(/^ {4}permissions: \{ id-token: write \}$/m);
  expect(build).not.toMatch(/id-token|environment:|role-to-assume|secrets\./);
});

it('each action is pinned by its commit, and an input is not part of a command', () => {
  const workflow = deployWorkflow();
  const used = workflow.match(/(?<=uses: ).*/g) ?? [];
  expect(used).toHaveLength(6);
  for (const one of used) expect(one).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  expect(workflow.match(/run: .*\$\{\{/g)).toBeNull();
});

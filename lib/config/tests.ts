import * as z from 'zod';
import { uuid } from '../service/partner/operation.ts';
import { listOfSome, offByDefault, setting, textLike } from './kinds.ts';
import { exactText } from './names.ts';

/** An id of the service, as written in tests and in the configuration. */
export const testId = /^[\w.:-]{1,64}$/;

const pattern = z.string().min(1).max(500);
const id = z
  .union([z.string(), z.number()])
  .refine((given) => testId.test(String(given)), 'expected an id: up to 64 letters, digits and the characters _ . : -')
  .exactOptional();

/** The settings for the test results of a repository's workflow runs. */
export const testsConfig = z.strictObject({
  workflows: setting(
    listOfSome(textLike(/^[^/]+\.ya?ml$/, 'expected the name of a file in .github/workflows, such as ci.yml')),
    'The files in `.github/workflows` whose runs count.',
    ['ci.yml'],
  ),
  artifacts: setting(
    listOfSome(pattern),
    'The names of the artifacts with JUnit XML files. `*` stands for any characters.',
    ['junit', 'junit-*'],
  ),
  branches: setting(
    listOfSome(exactText).default(['main']),
    'The branches whose runs are sent to the service, if a push or a schedule started them in the repository itself. ' +
      'Other runs are ignored.',
    ['main'],
  ),
  status: setting(
    z.strictObject({ passed: exactText, failed: exactText }).refine(({ passed, failed }) => passed !== failed, {
      path: ['failed'],
      error: 'expected another status than passed',
    }),
    'The status of a test scenario whose tests all passed, and of one with a failed test. The values that the service ' +
      'allows are not known. A scenario whose tests were all skipped is left as it is.',
    { passed: 'passed', failed: 'failed' },
  ),
  coverage: offByDefault(
    'Whether `coverage_percentage` is sent too: the value of the property `pm_coverage`, from 0 to 100, of a test ' +
      'suite or a test of the scenario.',
  ),
  ids: setting(
    z
      .array(
        z
          .strictObject({ tests: pattern, scenario: id, case: id, step: id })
          .refine(
            (ids) => (ids.scenario ?? ids.case ?? ids.step) !== undefined,
            'expected a scenario, a case or a step',
          ),
      )
      .default([]),
    'The ids of tests that do not name them with the properties `pm_scenario`, `pm_case` and `pm_step`. `tests` is ' +
      'compared with the file of a test and with `<class name>.<name>`; `*` stands for any characters. The first ' +
      'entry that fits counts.',
    [{ tests: 'tests/checkout/*', scenario: 'f3c9d5e8-7a14-4d60-9b2f-2e8a1c6b4d01' }],
  ),
  defects: setting(
    z
      .strictObject({
        projectId: uuid,
        type: exactText.exactOptional(),
        priority: exactText.exactOptional(),
        severity: exactText.exactOptional(),
      })
      .optional(),
    'Creates a defect in this project for a test case, or a test step, that failed in two runs in a row. Without it, ' +
      'no defects are created.',
    { projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01', type: 'Bug', priority: 'High' },
  ),
});

export type TestsConfig = z.output<typeof testsConfig>;

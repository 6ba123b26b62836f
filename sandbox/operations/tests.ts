import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { TestScenario, TestStep } from '../records.ts';
import { refuse } from '../refusal.ts';
import { find, nextId } from '../store.ts';
import { id, name, number, operation, text, uuid } from './operation.ts';

const scenarioChanges = {
  name: name,
  description: text,
  type: text,
  coverage_percentage: number,
  status: text,
} as const;

export const tests = [
  operation({
    path: '/test-scenarios/create',
    evidence: 'documented',
    scope: 'test-scenarios.write',
    success: 201,
    invalid: 400,
    required: { project_id: uuid, name: name },
    optional: { ...scenarioChanges, test_strategy_id: id },
    run(payload, store) {
      if (!find(store.data.projects, 'project_id', payload.project_id)) refuse(400, 'Invalid reference: project_id');
      const scenario: TestScenario = {
        scenario_id: randomUUID(),
        description: '',
        type: '',
        coverage_percentage: 0,
        test_strategy_id: null,
        status: 'draft',
        ...payload,
      };
      return { data: store.put('testScenarios', scenario) };
    },
  }),
  operation({
    path: '/test-scenarios/update',
    evidence: 'documented',
    scope: 'test-scenarios.write',
    invalid: 400,
    required: { scenario_id: id },
    optional: scenarioChanges,
    run({ scenario_id, ...changes }, store) {
      const before =
        find(store.data.testScenarios, 'scenario_id', scenario_id) ?? refuse(404, 'Test scenario not found');
      const scenario = { ...before, ...changes };
      return { data: store.put('testScenarios', scenario) };
    },
  }),
  operation({
    path: '/test-steps/create',
    evidence: 'documented',
    scope: 'test-steps.write',
    success: 201,
    invalid: 400,
    required: { test_case_id: id, name: name },
    optional: { description: text, expected_result: text, outcome: text, status: text },
    run(payload, store) {
      const { testCases, testSteps } = store.data;
      const testCase =
        find(testCases, 'test_case_id', payload.test_case_id) ?? refuse(400, 'Invalid reference: test_case_id');
      const siblings = testSteps.filter(({ test_case_id }) => test_case_id === testCase.test_case_id);
      const step: TestStep = {
        step_id: nextId(testSteps, 'step_id'),
        description: '',
        expected_result: '',
        outcome: '',
        status: 'active',
        ...payload,
        test_case_id: testCase.test_case_id,
        // docs/partner-api.md#operations.
        step_order: nextId(siblings, 'step_order'),
      };
      return { data: store.put('testSteps', step) };
    },
  }),
  operation({
    path: '/test-steps/delete',
    evidence: 'documented',
    scope: 'test-steps.write',
    invalid: 400,
    required: { test_case_id: id, step_id: id },
    optional: { hard_delete: z.unknown() },
    run({ test_case_id, step_id, hard_delete }, store) {
      const step = find(store.data.testSteps, 'step_id', step_id);
      if (step === undefined || step.test_case_id !== test_case_id) return refuse(404, 'Test step not found');
      // The values are not shown (docs/partner-api.md#operations). Assumed: these delete, and all other values archive.
      if (/^(true|yes|1)$/i.test(String(hard_delete))) store.remove('testSteps', step.step_id);
      else store.put('testSteps', { ...step, status: 'archived' });
      return { data: { step_id: step.step_id } };
    },
  }),
];

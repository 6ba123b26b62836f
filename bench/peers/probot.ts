import { createLambdaFunction, createProbot } from '@probot/adapter-aws-lambda-serverless';

/** The smallest comparable app: it verifies and parses each delivery, and does nothing with the opened issues. */
export const handler = createLambdaFunction(
  (app) => {
    app.on('issues.opened', () => {});
  },
  { probot: createProbot() },
);

import { createLambdaFunction, createProbot } from '@probot/adapter-aws-lambda-serverless';

/** The least comparable app: it verifies and parses each delivery, takes opened issues, and does nothing with them. */
export const handler = createLambdaFunction(
  (app) => {
    app.on('issues.opened', () => {});
  },
  { probot: createProbot() },
);

import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * In place of the SDK's chain of credential providers: Lambda has its credentials in the environment, always, and the
 * chain (SSO, STS, instance metadata, …) is a quarter of the bundle.
 */
export const defaultProvider = fromEnv;

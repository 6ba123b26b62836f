import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Replaces the SDK's chain of credential providers. Lambda always has its credentials in the environment, and the
 * chain (SSO, STS, instance metadata, …) is a quarter of the bundle.
 */
export const defaultProvider = fromEnv;

import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * Replaces the SDK's chain of credential providers (SSO, STS, instance metadata, …), which is a quarter of the bundle.
 * Lambda always has its credentials in the environment.
 */
export const defaultProvider = fromEnv;

import { App, type AppProps } from 'aws-cdk-lib';
import recommendedFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { ConfigFileError } from '../lib/config/config-file.ts';
import { CustomFilesError } from './bundle/custom-build.ts';
import { StageError } from './stage.ts';

/** An app with every feature flag as the CDK recommends for a new one. `cdk synth` would list the flags that are not set. */
export function createApp(props: AppProps = {}): App {
  return new App({ ...props, context: { ...recommendedFlags, ...props.context } });
}

/**
 * Runs what `cdk` calls. A mistake of the person who deploys ends it with its sentence alone: where it is thrown says
 * nothing to them.
 *
 * @param context what `-c name=value` says; undefined without it
 */
export async function runCdkApp(
  build: (app: App, context: (name: string) => string | undefined) => Promise<void>,
): Promise<void> {
  try {
    const app = createApp();
    await build(app, (name) => app.node.tryGetContext(name));
  } catch (error) {
    if (!(error instanceof StageError || error instanceof ConfigFileError || error instanceof CustomFilesError))
      throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

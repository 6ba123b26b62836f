import { App, type AppProps } from 'aws-cdk-lib';
import recommendedFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { ConfigFileError } from '../lib/config/config-file.ts';
import { CustomFilesError } from './bundle/custom-build.ts';
import { StageError } from './stage.ts';

/**
 * An app with the feature flags that the CDK recommends for new apps. Otherwise, `cdk synth` would list the unset
 * flags.
 */
export function createApp(props: AppProps = {}): App {
  return new App({ ...props, context: { ...recommendedFlags, ...props.context } });
}

/**
 * Runs the program that `cdk` calls. If the person who deploys made a mistake, it ends with the message alone, because
 * a stack trace would not help them.
 *
 * @param context the values of `-c name=value`; undefined without one
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

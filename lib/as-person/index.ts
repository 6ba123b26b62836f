/** Everything that the rest of the relay uses of this folder. It is optional: the relay works without it. */
export { createLinking, type Linking } from './slack/linking.ts';
export { createActing } from './steps/acting.ts';

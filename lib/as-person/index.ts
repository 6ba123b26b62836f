/** All that the rest of the relay takes of this folder, which it works without. */
export { createLinking, type Linking } from './slack/linking.ts';
export { createActing } from './steps/acting.ts';

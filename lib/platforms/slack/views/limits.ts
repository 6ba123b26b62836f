/** Of a list: https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
export const MAX_OPTIONS = 100;
/** https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
export const MAX_OPTION_LENGTH = 75;
/** https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element */
export const MAX_INPUT_LENGTH = 3_000;

type Fields = Record<string, unknown>;

/** Blocks of Block Kit, which are valid unless the fields are changed. */
export const many = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index));
export const plainText = (text: string) => ({ type: 'plain_text' as const, text });
export const section = (text = 'Hello', rest: Fields = {}) => ({
  type: 'section',
  text: { type: 'mrkdwn', text },
  ...rest,
});
export const actions = (...elements: unknown[]) => ({ type: 'actions', elements });
export const button = (rest: Fields = {}) => ({ type: 'button', text: plainText('Log time'), ...rest });
export const option = (text: string) => ({ text: plainText(text), value: text });
export const textInput = (rest: Fields = {}) => ({ type: 'plain_text_input', ...rest });
export const input = (element: unknown = textInput(), rest: Fields = {}) => ({
  type: 'input',
  label: plainText('Title'),
  element,
  ...rest,
});
export const modal = (blocks: unknown, rest: Fields = {}) => ({
  type: 'modal',
  title: plainText('Create defect'),
  submit: plainText('Create'),
  blocks,
  ...rest,
});

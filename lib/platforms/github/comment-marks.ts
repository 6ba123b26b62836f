/** Nobody sees it, and every comment of the relay ends with it. */
const BEGINNING = '<!-- partner-relay ';

/** What tells a comment of the relay from any other. @param name a digest of what the comment is for */
export const commentMark = (name: string) => `${BEGINNING}${name} -->`;

/** Whether the relay wrote a comment, perhaps with a person's token, or copies of its text. */
export const hasCommentMark = (text: string | null | undefined): boolean => text?.includes(BEGINNING) ?? false;

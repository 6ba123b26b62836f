/** The last line of a comment of the relay, which GitHub does not show. @param name a digest of what the comment is for */
export const commentMark = (name: string) => `<!-- partner-relay ${name} -->`;

/** The last line of a comment about a defect. @param marker of the defect */
export const markOfMarker = (marker: string) => `<!-- ${marker} -->`;

const AT_END = /(?:^|[\r\n])<!-- (?:partner-relay [0-9a-f]{20}|\[partner-relay [0-9a-f]{20}\]) -->$/;

/** Whether the relay wrote a comment, perhaps with a person's token, or someone copied its last line. A quotation is before the end. */
export const endsWithCommentMark = (text: string | null | undefined): boolean => AT_END.test(text ?? '');

/** The last line of the relay's comments, invisible on GitHub. @param name a digest of the comment's purpose */
export const commentMark = (name: string) => `<!-- partner-relay ${name} -->`;

/** The last line of a comment about a defect. @param marker the defect's marker */
export const markOfMarker = (marker: string) => `<!-- ${marker} -->`;

const AT_END = /(?:^|[\r\n])<!-- (?:partner-relay [0-9a-f]{20}|\[partner-relay [0-9a-f]{20}\]) -->$/;

/**
 * Returns true if the relay wrote a comment, perhaps with a person's token, or if someone copied its last line. A
 * quoted line is not at the end.
 */
export const endsWithCommentMark = (text: string | null | undefined): boolean => AT_END.test(text ?? '');

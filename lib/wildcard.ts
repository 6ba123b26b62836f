/** True if the text matches the pattern, in which each `*` stands for any characters. */
export function isLike(text: string, pattern: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return text === start;
  if (text.length < start.length + end.length || !text.startsWith(start) || !text.endsWith(end)) return false;
  let from = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= text.length - end.length;
}

/** Puts a table into a page, in the place that `<!-- NAME: made by `npm run docs` -->` marks. */
export function withTable(page: string, name: string, table: string): string {
  const place = new RegExp(`(?<=<!-- ${name}: made by \`npm run docs\` -->\\n\\n).*?(?=\\n(\\n|$))`, 's');
  if (!place.test(page)) throw new Error(`the page has no place for the table ${name}`);
  return page.replace(place, () => table);
}

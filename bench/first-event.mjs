// Runs in a process of its own, with the URL of a bundle and an event as arguments, and prints what it measured as the
// last line of its output. It is JavaScript and imports nothing, so that all of what a bundle needs of Node is loaded
// while the clock runs.
const [, , url, event] = process.argv;
const parsedEvent = JSON.parse(event);
const startMs = performance.now();
const { handler } = await import(url);
const importedMs = performance.now();
const answer = await handler(parsedEvent, {});
const answeredMs = performance.now();
const measured = {
  importMs: importedMs - startMs,
  totalMs: answeredMs - startMs,
  answer,
};
// Connections that are kept alive would keep the process alive too.
process.stdout.write(`\n${JSON.stringify(measured)}\n`, () => process.exit());

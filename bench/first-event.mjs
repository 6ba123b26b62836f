// Runs in its own process, with the URL of a bundle and an event as arguments. The last line of the output has the
// measurements. This is JavaScript without imports, so that the clock runs while Node loads everything that the bundle
// needs.
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
// Kept-alive connections would keep the process running.
process.stdout.write(`\n${JSON.stringify(measured)}\n`, () => process.exit());

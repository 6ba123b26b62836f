/** Ends the process quietly once the reader of its output has seen enough, as in `partner-relay jobs | head`. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

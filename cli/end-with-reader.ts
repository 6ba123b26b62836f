/** Ends the process quietly when the reader of its output has closed it, as in `partner-relay jobs | head`. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

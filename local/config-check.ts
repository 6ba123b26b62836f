import { parentPort } from 'node:worker_threads';
import { loadConfigAndFiles } from './config-files.ts';

// This thread has not loaded the files yet. The relay's own thread would get its cached modules.
parentPort?.postMessage(await loadConfigAndFiles());

import { parentPort } from 'node:worker_threads';
import { loadConfigAndFiles } from './config-files.ts';

// A thread of its own has not loaded any of the files yet. In the process of the relay they would be as they were.
parentPort?.postMessage(await loadConfigAndFiles());

import { fuzz, inWords } from './fuzz.ts';

/** `node test/fuzz/start.ts <runs> <seed>` */
const [runs = '1000', seed = String(Date.now() % 1e9)] = process.argv.slice(2);
const startedAt = Date.now();
const finding = await fuzz(Number(runs), Number(seed));
const seconds = Math.round((Date.now() - startedAt) / 1000);
console.log(
  finding ? inWords(finding) : `${runs} histories with the seed ${seed} in ${seconds} s: every promise was kept.`,
);
if (finding) process.exitCode = 1;

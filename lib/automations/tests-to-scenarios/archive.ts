import { type Entry, fromBufferPromise } from 'yauzl';

/** Why a report is not used. The message contains no text from outside. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault';
}

/** The run's time ended before the whole archive was unpacked. */
export class NoTime extends Error {
  override readonly name = 'NoTime';
}

const MOST_FILES = 2_000;
const MOST_MEGABYTES = 64;
/** A higher ratio means that a file is not text. */
const MOST_RATIO = 200;
/** A stored, uncompressed file arrives in one piece. The reader checks its limits after each piece of this size. */
const PIECE_BYTES = 64 * 1024;
const SMALL_BYTES = 1024 * 1024;
const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;

/**
 * Unpacks the XML files of an archive piece by piece. Their names are not used as paths, and nested archives are not
 * opened.
 *
 * @param unpacked how many bytes the run's archives have unpacked so far; updated
 * @param open is called with the name of each file
 * @param broken is called for a file that cannot be read to its end
 * @throws {ReportFault} for a malformed or oversized archive; the files read so far are incomplete
 * @throws {NoTime}
 */
export async function unfold(
  archive: Buffer,
  unpacked: { bytes: number },
  isTimeOver: () => boolean,
  open: (name: string) => { write(piece: Uint8Array): void; end(): void },
  broken: (name: string, why: string) => void,
): Promise<void> {
  try {
    const zip = await fromBufferPromise(archive, {
      validateEntrySizes: true,
      strictFileNames: true,
      lazyEntries: true,
    });
    if (zip.entryCount > MOST_FILES) throw new ReportFault(`it has more than ${MOST_FILES} files`);
    for await (const entry of zip.eachEntry()) {
      if (!isXmlFile(entry)) continue;
      const { compressedSize, uncompressedSize } = entry;
      unpacked.bytes += uncompressedSize;
      if (unpacked.bytes > MOST_MEGABYTES * 1024 * 1024)
        throw new ReportFault(`the files of the run have more than ${MOST_MEGABYTES} MB`);
      try {
        if (uncompressedSize > Math.max(SMALL_BYTES, compressedSize * MOST_RATIO)) {
          throw new ReportFault('it is not text: its compression ratio is too high');
        }
        const file = open(entry.fileName);
        // The library stops at a file that is larger than declared.
        for await (const part of await zip.openReadStreamPromise(entry)) {
          for (let at = 0; at < part.length; at += PIECE_BYTES) {
            if (isTimeOver()) throw new NoTime();
            file.write(part.subarray(at, at + PIECE_BYTES));
          }
        }
        file.end();
      } catch (error) {
        if (!(error instanceof ReportFault)) throw error;
        broken(entry.fileName, error.message);
      }
    }
  } catch (error) {
    throw error instanceof ReportFault || error instanceof NoTime
      ? error
      : new ReportFault('it is not a readable archive');
  }
}

/** Excludes links and devices. Archives from Windows have no file types. */
function isXmlFile({ fileName, externalFileAttributes }: Entry): boolean {
  const type = (externalFileAttributes >>> 16) & FILE_TYPE;
  return /\.xml$/i.test(fileName) && (type === 0 || type === REGULAR_FILE);
}

import { type Entry, fromBufferPromise } from 'yauzl';

/** Why a report is not used. The message has no text from outside. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault';
}

/** There was no time to unpack all of an archive. */
export class NoTime extends Error {
  override readonly name = 'NoTime';
}

const MOST_FILES = 2_000;
const MOST_MEGABYTES = 64;
/** A file of text does not shrink more than that. */
const MOST_RATIO = 200;
/** A file that is stored, and not compressed, comes in one piece. The reader looks at its bounds after each. */
const PIECE_BYTES = 64 * 1024;
const SMALL_BYTES = 1024 * 1024;
const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;

/**
 * Unpacks the XML files of an archive piece by piece. Their names are not used as paths, and an archive in the archive
 * is not opened.
 *
 * @param unpacked how many bytes the archives of the run had unpacked; counted on
 * @param open is called for each file with its name
 * @param broken is called for a file that cannot be read to its end
 * @throws {ReportFault} for a malformed or too large archive; what was read until then is not everything
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
        // The library stops at a file that is larger than it says.
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

/** Links and devices are left out. An archive from Windows has no file types. */
function isXmlFile({ fileName, externalFileAttributes }: Entry): boolean {
  const type = (externalFileAttributes >>> 16) & FILE_TYPE;
  return /\.xml$/i.test(fileName) && (type === 0 || type === REGULAR_FILE);
}

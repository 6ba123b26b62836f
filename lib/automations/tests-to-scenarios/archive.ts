import { type Entry, fromBufferPromise } from 'yauzl';

/** Why a report is not used. The message has no text from outside. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault';
}

const MOST_FILES = 2_000;
const MOST_MEGABYTES = 64;
/** A file of text does not shrink more than that. */
const MOST_RATIO = 200;
const SMALL_BYTES = 1024 * 1024;
const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;

/** How many bytes the archives of a run may still unpack to. */
interface Room {
  bytes: number;
}

export const emptyRoom = (): Room => ({ bytes: MOST_MEGABYTES * 1024 * 1024 });

/**
 * Unpacks the XML files of an archive piece by piece. Their names are not used as paths, and an archive in the archive
 * is not opened.
 *
 * @param open is called for each file
 * @throws {ReportFault} for a malformed or too large archive; what was read until then is not everything
 */
export async function unfold(
  archive: Buffer,
  room: Room,
  open: () => { write(piece: Uint8Array): void; end(): void },
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
      room.bytes -= uncompressedSize;
      if (room.bytes < 0) throw new ReportFault(`the files of the run have more than ${MOST_MEGABYTES} MB`);
      if (uncompressedSize > Math.max(SMALL_BYTES, compressedSize * MOST_RATIO)) {
        throw new ReportFault('a file in it is not text: it was compressed too well');
      }
      const file = open();
      // The library stops at a file that is larger than it says.
      for await (const piece of await zip.openReadStreamPromise(entry)) file.write(piece);
      file.end();
    }
  } catch (error) {
    throw error instanceof ReportFault ? error : new ReportFault('it is not an archive that can be read');
  }
}

/** Links and devices are left out. An archive from Windows has no file types. */
function isXmlFile({ fileName, externalFileAttributes }: Entry): boolean {
  const type = (externalFileAttributes >>> 16) & FILE_TYPE;
  return /\.xml$/i.test(fileName) && (type === 0 || type === REGULAR_FILE);
}

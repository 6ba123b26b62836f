import type { Readable } from 'node:stream';
import { type Entry, fromBufferPromise } from 'yauzl';
import { ReportFault } from './report-fault.ts';

const MOST_FILES = 2_000;
/** Of all archives of a run together. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Text does not shrink more than that. */
const MOST_RATIO = 200;
const SMALL_BYTES = 1024 * 1024;

const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;

/** How many bytes the archives of a run may still unfold to. */
export interface Room {
  bytes: number;
}

export const emptyRoom = (): Room => ({ bytes: MOST_BYTES });

/**
 * Unfolds the XML files of an archive, one after the other and piece by piece. Their names lead nowhere, and other
 * files, such as an archive in the archive, are not opened.
 *
 * @param open is called for each file, and what it returns for each piece of it and at its end
 * @throws {ReportFault} for an archive that lies or is too large: what was read until then is not the whole
 */
export async function unfold(
  archive: Uint8Array,
  room: Room,
  open: () => { write(piece: Uint8Array): void; end(): void },
): Promise<void> {
  try {
    const zip = await fromBufferPromise(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength), {
      lazyEntries: true,
      validateEntrySizes: true,
      strictFileNames: true,
    });
    if (zip.entryCount > MOST_FILES) throw new ReportFault(`it has more than ${MOST_FILES} files`);
    for await (const entry of zip.eachEntry()) {
      if (!isXmlFile(entry)) continue;
      ensureHonest(entry, room);
      const file = open();
      const stream: Readable = await zip.openReadStreamPromise(entry);
      for await (const piece of stream) {
        room.bytes -= piece.length;
        // The size that the archive tells is no more than what it tells.
        if (room.bytes < 0) throw tooLarge();
        file.write(piece);
      }
      file.end();
    }
  } catch (error) {
    if (error instanceof ReportFault) throw error;
    throw new ReportFault('it is not an archive that can be read', { cause: error });
  }
}

/** A link and a device are no files. An archive from Windows tells no type. */
function isXmlFile({ fileName, externalFileAttributes }: Entry): boolean {
  const type = (externalFileAttributes >>> 16) & FILE_TYPE;
  return /\.xml$/i.test(fileName) && (type === 0 || type === REGULAR_FILE);
}

function ensureHonest({ compressedSize, uncompressedSize }: Entry, room: Room): void {
  if (uncompressedSize > room.bytes) throw tooLarge();
  if (uncompressedSize > SMALL_BYTES && uncompressedSize > compressedSize * MOST_RATIO) {
    throw new ReportFault('a file in it is not text: it was compressed too well');
  }
}

const tooLarge = () => new ReportFault(`the files of the run have more than ${MOST_BYTES / 1024 / 1024} MB`);

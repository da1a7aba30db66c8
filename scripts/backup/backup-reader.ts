import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { errorText } from "../../lib/log.ts";
import { BackupFileError, type BackupHeader, CLOSING_LINE, END_OF_ROWS, parseHeader } from "./format.ts";

/** A longer line is neither a header nor the end of the file, in bytes. */
const MAX_LINE = 1_000_000;

const LINE_BREAK = 0x0a;
const END = Buffer.from(`${END_OF_ROWS}\n`);
const END_AFTER_ROWS = Buffer.from(`\n${END_OF_ROWS}\n`);

/** Reads a backup's file from its beginning to its end, a part at a time. */
export class BackupReader {
  readonly #parts: AsyncIterator<Buffer>;
  /** What was read and not yet passed on; it begins with a line. */
  #unread: Buffer = Buffer.alloc(0);

  constructor(file: string) {
    const input = createReadStream(file);
    const unpacked = createGunzip();
    input.on("error", (error) => unpacked.destroy(error));
    this.#parts = input.pipe(unpacked)[Symbol.asyncIterator]();
  }

  /** @throws {BackupFileError} when the file is no backup of this format */
  async header(): Promise<BackupHeader> {
    return parseHeader(await this.#line());
  }

  /**
   * The rows of the next table as COPY reads them, in parts of whole rows with the number of their rows.
   * @throws {BackupFileError} where the file ends before them
   */
  async *rows(): AsyncGenerator<{ bytes: Buffer; rows: number }> {
    for (;;) {
      const isEnd = this.#unread.subarray(0, END.length).equals(END);
      const end = isEnd ? 0 : this.#unread.indexOf(END_AFTER_ROWS) + 1;
      const found = isEnd || end > 0;
      const bytes = this.#unread.subarray(0, found ? end : this.#unread.lastIndexOf(LINE_BREAK) + 1);
      this.#unread = this.#unread.subarray(bytes.length + (found ? END.length : 0));
      if (bytes.length > 0) yield { bytes, rows: countLines(bytes) };
      if (found) return;
      await this.#readMore();
    }
  }

  /** @throws {BackupFileError} unless the closing line is all that follows */
  async close(): Promise<void> {
    if ((await this.#line()) !== CLOSING_LINE) throw new BackupFileError("the file has no closing line");
    const more = this.#unread.length > 0 || !(await this.#next()).done;
    if (more) throw new BackupFileError("the file goes on after its closing line");
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf(LINE_BREAK);
      if (end >= 0) {
        const line = this.#unread.toString("utf8", 0, end);
        this.#unread = this.#unread.subarray(end + 1);
        return line;
      }
      if (this.#unread.length > MAX_LINE)
        throw new BackupFileError("the file is no backup: a line is too long");
      await this.#readMore();
    }
  }

  async #readMore(): Promise<void> {
    const { done, value } = await this.#next();
    if (done) throw new BackupFileError("the file is cut off: it ends before its closing line");
    this.#unread = Buffer.concat([this.#unread, value]);
  }

  async #next(): Promise<IteratorResult<Buffer, unknown>> {
    try {
      return await this.#parts.next();
    } catch (error) {
      throw new BackupFileError(`the file cannot be read to its end: ${errorText(error)}`);
    }
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at >= 0; at = bytes.indexOf(LINE_BREAK, at + 1)) lines += 1;
  return lines;
}

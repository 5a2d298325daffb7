// Keeps capture files. CaptureFolder holds their folder within an age and a total size: it removes only
// files with its own naming, the oldest first, and none that is open. PcapFile writes one of them.
import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type RetainedFile, Retention, type RetentionLimits } from '../../src/recording/retention.js';

interface CaptureFolderOptions extends RetentionLimits {
  readonly folder: string;
  readonly isOpen: (path: string) => boolean;
}

const NAME = /^\d{8}T\d{9}Z-[0-9a-f]{16}\.pcap$/;

/** File name of a call: time and a hash of the Call-ID, without text from a peer. */
export function captureName(callId: string, unixMs: number): string {
  const time = new Date(unixMs).toISOString().replace(/[-:.]/g, '');
  return `${time}-${createHash('sha256').update(callId).digest('hex').slice(0, 16)}.pcap`;
}

export class CaptureFolder {
  readonly #options: CaptureFolderOptions;
  readonly #retention: Retention<RetainedFile>;
  #removed = 0;

  constructor(options: CaptureFolderOptions) {
    this.#options = options;
    this.#retention = new Retention(options, {
      files: () => this.#files(),
      isOpen: ({ path }) => options.isOpen(path),
      removed: () => this.#removed++,
    });
  }

  /** Number of removed files. */
  get removed(): number {
    return this.#removed;
  }

  /** Sweeps now and every ten minutes if there is a limit. */
  start(): void {
    if (!this.#isLimited) return;
    void this.sweep();
    this.#retention.start();
  }

  /** See Retention. */
  async sweep(): Promise<void> {
    if (this.#isLimited) await this.#retention.sweep();
  }

  /** Resolves when no sweep is running. */
  close(): Promise<void> {
    return this.#retention.close();
  }

  get #isLimited(): boolean {
    const { keepMs, keepBytes } = this.#options;
    return keepMs > 0 || keepBytes > 0;
  }

  /** Sorted by name, which begins with the time: the oldest first. */
  async #files(): Promise<readonly RetainedFile[]> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch((): string[] => []);
    const found: RetainedFile[] = [];
    for (const name of names.filter((one) => NAME.test(one)).toSorted()) {
      const path = join(folder, name);
      const state = await stat(path).catch(() => undefined);
      if (state?.isFile() === true) found.push({ path, bytes: state.size, changedMs: state.mtimeMs });
    }
    return found;
  }
}

const MAGIC = 0xa1b2c3d4; // times in microseconds
const SNAP_LENGTH = 65_535;
const RAW_IP = 101; // LINKTYPE_RAW: IPv4 or IPv6, as the first four bits say
const FILE_HEADER = 24;
const PACKET_HEADER = 16;
const MOST_UNWRITTEN = 1024 * 1024; // bytes

/**
 * A capture file of IP packets up to a size limit. Writing never blocks; packets that a slow disk does not
 * accept are counted as dropped.
 */
export class PcapFile {
  readonly path: string;
  readonly #stream: WriteStream;
  readonly #mostBytes: number;
  #bytes = FILE_HEADER;
  #failed = false;
  #dropped = 0;
  #closed: Promise<void> | undefined;
  readonly #gone: Promise<void>;

  /** Creates a new file that only its owner can read. */
  constructor(path: string, mostBytes: number) {
    this.path = path;
    this.#mostBytes = mostBytes;
    this.#stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    this.#gone = new Promise((resolve) => this.#stream.once('close', () => resolve()));
    this.#stream.on('error', () => (this.#failed = true));
    this.#stream.write(fileHeader());
  }

  /** Packets not written because of the size limit, a slow disk or an error. */
  get dropped(): number {
    return this.#dropped;
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** `unixMs` is the time of the packet. False if it is dropped. */
  write(packet: Buffer, unixMs: number): boolean {
    const size = PACKET_HEADER + packet.length;
    const isFull = this.#bytes + size > this.#mostBytes || this.#stream.writableLength > MOST_UNWRITTEN;
    if (isFull || this.#failed || this.#closed !== undefined) {
      this.#dropped++;
      return false;
    }
    this.#bytes += size;
    this.#stream.write(Buffer.concat([packetHeader(packet.length, unixMs), packet]));
    return true;
  }

  /** Resolves when everything is written. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stream.end();
    await this.#gone;
  }
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(FILE_HEADER);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt16LE(2, 4); // version 2.4
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(SNAP_LENGTH, 16);
  header.writeUInt32LE(RAW_IP, 20);
  return header;
}

function packetHeader(length: number, unixMs: number): Buffer {
  const header = Buffer.alloc(PACKET_HEADER);
  const seconds = Math.floor(unixMs / 1000);
  header.writeUInt32LE(seconds, 0);
  header.writeUInt32LE(Math.floor((unixMs - seconds * 1000) * 1000), 4);
  header.writeUInt32LE(length, 8);
  header.writeUInt32LE(length, 12);
  return header;
}

// The receiving end of a bench: a small native program with a socket on the
// loopback interface that notes the kernel's arrival time of each packet.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SOURCE = join(ROOT, 'native', 'bench', 'udp_receiver.cc');
const PROGRAM = join(ROOT, 'native', 'build-bench', 'udp_receiver');
const HEADER_BYTES = 16;
const RECORD_BYTES = 24;

export interface Arrival {
  readonly ssrc: number;
  readonly timestamp: number;
  readonly sequence: number;
  readonly bytes: number;
  /** Milliseconds of CLOCK_MONOTONIC, stamped by the kernel. */
  readonly atMs: number;
}

export interface Arrivals {
  /** In the order of arrival. */
  readonly packets: readonly Arrival[];
  /** Packets that found the socket's buffer full: a fault of the bench, not of the sender. */
  readonly dropped: number;
}

export class UdpReceiver {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #output: Buffer[];

  private constructor(child: ChildProcess, port: number, output: Buffer[]) {
    this.#child = child;
    this.port = port;
    this.#output = output;
  }

  static async open(): Promise<UdpReceiver> {
    buildProgram();
    const child = spawn(PROGRAM, [], { stdio: ['pipe', 'pipe', 'inherit'] });
    const output: Buffer[] = [];
    const port = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`udp_receiver ended with ${code}`)));
      child.stdout.once('data', (first: Buffer) => {
        const lineEnd = first.indexOf('\n');
        output.push(first.subarray(lineEnd + 1));
        child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
        resolve(Number(first.subarray('port '.length, lineEnd).toString()));
      });
    });
    return new UdpReceiver(child, port, output);
  }

  /** Ends the program and returns what it saw. */
  async close(): Promise<Arrivals> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin?.end();
    await ended;
    const data = Buffer.concat(this.#output);
    const records = Number(data.readBigUInt64LE(0));
    const packets = Array.from({ length: records }, (_, index): Arrival => {
      const at = HEADER_BYTES + index * RECORD_BYTES;
      return {
        ssrc: data.readUInt32LE(at),
        timestamp: data.readUInt32LE(at + 4),
        sequence: data.readUInt16LE(at + 8),
        bytes: data.readUInt16LE(at + 10),
        atMs: Number(data.readBigInt64LE(at + 16)) / 1e6,
      };
    });
    return { packets, dropped: Number(data.readBigUInt64LE(8)) };
  }
}

function buildProgram(): void {
  if (existsSync(PROGRAM) && statSync(PROGRAM).mtimeMs > statSync(SOURCE).mtimeMs) return;
  mkdirSync(dirname(PROGRAM), { recursive: true });
  execFileSync('c++', ['-O2', '-std=c++17', '-Wall', '-Wextra', SOURCE, '-o', PROGRAM], { stdio: 'inherit' });
}

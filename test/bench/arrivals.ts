// Receives a sender's packets and reports their lateness from the kernel's arrival times.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

// The receiving end of a bench: a small native program with a socket on the
// loopback interface that notes the kernel's arrival time of each packet.

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

/** When a stream's packets were due. */
export interface Schedule {
  readonly ssrc: number;
  /** RTP timestamp of the first packet, and when it was due, in ms of CLOCK_MONOTONIC. */
  readonly timestamp: number;
  readonly dueMs: number;
}

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

interface Pacing {
  readonly received: number;
  /** Milliseconds after the due time. */
  readonly late: Spread;
  /** Milliseconds between two packets of a stream. */
  readonly interval: Spread;
  /** Milliseconds that the schedule was left behind between the first tenth of the run and the last. */
  readonly driftMs: number;
}

export function pacingOf(
  packets: readonly Arrival[],
  schedules: readonly Schedule[],
  { ticksPerMs, runMs }: { ticksPerMs: number; runMs: number },
): Pacing {
  const due = new Map(schedules.map((schedule) => [schedule.ssrc, schedule]));
  const last = new Map<number, number>();
  const late: number[] = [];
  const intervals: number[] = [];
  const early = new Map<number, number>(); // the least lateness of a stream in the first tenth
  const final = new Map<number, number>(); // and in the last one
  for (const { ssrc, timestamp, atMs } of packets) {
    const schedule = due.get(ssrc);
    if (schedule === undefined) continue;
    const sinceFirstMs = ((timestamp - schedule.timestamp) >>> 0) / ticksPerMs;
    const lateMs = atMs - (schedule.dueMs + sinceFirstMs);
    late.push(lateMs);
    const previous = last.get(ssrc);
    if (previous !== undefined) intervals.push(atMs - previous);
    last.set(ssrc, atMs);
    const part = sinceFirstMs < runMs / 10 ? early : sinceFirstMs > (runMs * 9) / 10 ? final : undefined;
    part?.set(ssrc, Math.min(lateMs, part.get(ssrc) ?? Infinity));
  }
  const drifts = [...final].map(([ssrc, lateMs]) => lateMs - (early.get(ssrc) ?? lateMs));
  return {
    received: late.length,
    late: spreadOf(late),
    interval: spreadOf(intervals),
    driftMs: spreadOf(drifts).p50,
  };
}

interface DueSound {
  /** Streams that there should be. */
  readonly calls: number;
  /** Milliseconds of sound in each, at least. */
  readonly holdMs: number;
  readonly packetMs: number;
}

/**
 * The share of the packets that were due, 0 to 1. A call may last longer than it was to be held, so the time
 * from its first packet to its last counts, if that is longer.
 */
export function soundShare(packets: readonly Arrival[], { calls, holdMs, packetMs }: DueSound): number {
  const streams = new Map<number, { firstMs: number; lastMs: number; count: number }>();
  for (const { ssrc, atMs } of packets) {
    const stream = streams.get(ssrc) ?? { firstMs: atMs, lastMs: atMs, count: 0 };
    streams.set(ssrc, { ...stream, lastMs: atMs, count: stream.count + 1 });
  }
  const least = Math.floor(holdMs / packetMs);
  let due = Math.max(0, calls - streams.size) * least;
  let came = 0;
  for (const { firstMs, lastMs, count } of streams.values()) {
    const dueHere = Math.max(least, Math.round((lastMs - firstMs) / packetMs) + 1);
    due += dueHere;
    came += Math.min(count, dueHere);
  }
  return due === 0 ? NaN : came / due;
}

/** Percentiles of the values; NaN if there are none. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).toSorted();
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

// Readers of captures written from the formats' descriptions, apart from what
// writes them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

export interface PcapPacket {
  readonly atUs: number;
  readonly source: string;
  readonly target: string;
  readonly payload: Buffer;
}

/** Fails where lengths or checksums are not right. */
export function readPcap(file: Buffer): PcapPacket[] {
  assert.deepEqual(
    [file.readUInt32LE(0), file.readUInt16LE(4), file.readUInt16LE(6), file.readUInt32LE(20)],
    [0xa1b2c3d4, 2, 4, 101],
  );
  const packets: PcapPacket[] = [];
  for (let at = 24; at < file.length;) {
    const length = file.readUInt32LE(at + 8);
    assert.equal(file.readUInt32LE(at + 12), length);
    const atUs = file.readUInt32LE(at) * 1e6 + file.readUInt32LE(at + 4);
    const packet = file.subarray(at + 16, at + 16 + length);
    assert.equal(packet.length, length, 'the file ends in a packet');
    packets.push({ atUs, ...readIp(packet) });
    at += 16 + length;
  }
  return packets;
}

function readIp(packet: Buffer): Omit<PcapPacket, 'atUs'> {
  const isFour = (packet[0] ?? 0) >> 4 === 4;
  const header = isFour ? 20 : 40;
  const [addresses, bytes] = isFour ? [12, 4] : [8, 16];
  const source = packet.subarray(addresses, addresses + bytes);
  const target = packet.subarray(addresses + bytes, addresses + 2 * bytes);
  const udp = packet.subarray(header);
  if (isFour) assert.equal(sumOf(packet.subarray(0, 20)), 0xffff, 'checksum of IP');
  assert.equal(isFour ? packet.readUInt16BE(2) : packet.readUInt16BE(4) + 40, packet.length);
  assert.equal(isFour ? packet[9] : packet[6], 17);
  assert.equal(udp.readUInt16BE(4), udp.length);
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(udp.length, 0);
  pseudo.writeUInt32BE(17, 4);
  assert.equal(sumOf(Buffer.concat([source, target, pseudo, udp])), 0xffff, 'checksum of UDP');
  const place = (address: Buffer, port: number): string =>
    `${isFour ? address.join('.') : address.toString('hex')} ${port}`;
  return {
    source: place(source, udp.readUInt16BE(0)),
    target: place(target, udp.readUInt16BE(2)),
    payload: udp.subarray(8),
  };
}

/** In ones' complement; 0xffff where the checksum within is right. */
function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at++) sum += (bytes[at] ?? 0) << (at % 2 === 0 ? 8 : 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return sum;
}

/** Contents of the generic chunks of a HEP packet by type. */
export function readHep(packet: Buffer): ReadonlyMap<number, Buffer> {
  assert.equal(packet.toString('latin1', 0, 4), 'HEP3');
  assert.equal(packet.readUInt16BE(4), packet.length);
  const chunks = new Map<number, Buffer>();
  for (let at = 6; at < packet.length;) {
    const [vendor, type, length] = [at, at + 2, at + 4].map((offset) => packet.readUInt16BE(offset));
    assert.ok(vendor === 0 && type !== undefined && length !== undefined && length >= 6);
    assert.ok(at + length <= packet.length);
    chunks.set(type, packet.subarray(at + 6, at + length));
    at += length;
  }
  return chunks;
}

// tshark, if installed, dissects a capture. It confirms other checks and never replaces them.

interface Dissected {
  readonly [field: string]: unknown;
}

/** The layers of each packet; undefined where there is no tshark. */
export function dissected(file: string): readonly Dissected[] | undefined {
  const checks = ['-o', 'ip.check_checksum:TRUE', '-o', 'udp.check_checksum:TRUE'];
  const { error, stdout, status } = spawnSync(
    'tshark',
    ['-r', file, '-T', 'json', '--no-duplicate-keys', ...checks],
    {
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  if (error !== undefined || status !== 0) return undefined;
  const packets = JSON.parse(stdout) as { readonly _source: { readonly layers: Dissected } }[];
  return packets.map((packet) => packet._source.layers);
}

/** The value of a field, however deep. */
export function fieldOf(layers: unknown, name: string): unknown {
  if (typeof layers !== 'object' || layers === null) return undefined;
  if (name in layers) return (layers as Dissected)[name];
  for (const inner of Object.values(layers)) {
    const found = fieldOf(inner, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

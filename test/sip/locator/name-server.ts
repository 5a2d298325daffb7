// A name server on loopback that knows what it is told: answers as DNS has them
// on the wire (RFC 1035, RFC 2782, RFC 3403).
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA', 33: 'SRV', 35: 'NAPTR' };
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

/** Records by `TYPE name`, each as in a zone file without its name: `300 10 5 5060 target.example.com`, the TTL first. */
export type Zone = Readonly<Record<string, readonly string[] | 'fails' | 'silent'>>;

export class NameServer {
  readonly address: string;
  /** Queries received, as `TYPE name`. */
  readonly asked: string[] = [];
  readonly #socket: Socket;
  readonly #zone: Zone;

  private constructor(socket: Socket, zone: Zone) {
    this.#socket = socket;
    this.#zone = zone;
    this.address = `127.0.0.1:${socket.address().port}`;
    socket.on('message', (bytes, { address, port }) => {
      const answer = this.#answer(bytes);
      if (answer !== undefined) socket.send(answer, port, address);
    });
  }

  static async open(zone: Zone): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket, zone);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }

  #answer(question: Buffer): Buffer | undefined {
    const { name, end } = nameIn(question, 12);
    const type = TYPES[question.readUInt16BE(end)] ?? '';
    this.asked.push(`${type} ${name}`);
    const found = this.#zone[`${type} ${name}`];
    if (found === 'silent') return undefined;
    const isKnown = Object.keys(this.#zone).some((key) => key.endsWith(` ${name}`));
    const code = found === 'fails' ? SERVER_FAILURE : isKnown ? 0 : NO_SUCH_NAME;
    const records = typeof found === 'object' ? found : [];
    const head = Buffer.alloc(12);
    question.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2); // an answer, recursion wanted and had
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const written = records.map((record) => recordBytes(type, question.readUInt16BE(end), record));
    return Buffer.concat([head, question.subarray(12, end + 4), ...written]);
  }
}

function nameIn(bytes: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) {
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** Its name is that of the question, which stands at byte 12. */
function recordBytes(type: string, number: number, record: string): Buffer {
  const [ttl = '', ...values] = record.split(' ');
  const data = dataBytes(type, values);
  const head = Buffer.from([0xc0, 12, 0, number, 0, 1, 0, 0, 0, 0, 0, data.length]);
  head.writeUInt32BE(Number(ttl), 6);
  return Buffer.concat([head, data]);
}

function dataBytes(type: string, values: readonly string[]): Buffer {
  const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = values;
  switch (type) {
    case 'A':
      return Buffer.from(first.split('.').map(Number));
    case 'AAAA':
      return Buffer.concat(
        first.split(':').map((group) => numberBytes(Number.parseInt(group, 16))), // written out, without `::`
      );
    case 'SRV':
      return Buffer.concat([
        ...[first, second, third].map((text) => numberBytes(Number(text))),
        nameBytes(fourth),
      ]);
    default: // NAPTR: order, preference, flags, service, expression, replacement
      return Buffer.concat([
        ...[first, second].map((text) => numberBytes(Number(text))),
        ...[third, fourth, fifth].map(textBytes),
        nameBytes(sixth),
      ]);
  }
}

function numberBytes(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** `-` stands for nothing. */
function textBytes(text: string): Buffer {
  const plain = text === '-' ? '' : text;
  return Buffer.concat([Buffer.from([plain.length]), Buffer.from(plain, 'latin1')]);
}

/** `.` is the root. */
function nameBytes(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([...labels.map(textBytes), Buffer.from([0])]);
}

// A load of requests over keep-alive connections, each of which asks again as
// soon as it was answered. Raw sockets: the generator must cost less than what
// it measures.
import { connect, type Socket } from 'node:net';

interface Load {
  readonly port: number;
  readonly connections: number;
  /** Fields of the JSON body. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly warmUpMs: number;
  readonly runMs: number;
}

interface LoadFigures {
  readonly answers: number;
  readonly perSecond: number;
  /** Milliseconds from the request to the last byte of its answer. */
  readonly latenciesMs: readonly number[];
  /** Answers that were not 200, or no hit where one was asked for. */
  readonly wrong: number;
  readonly bodyBytes: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');

function requestOf(fields: Readonly<Record<string, unknown>>): Buffer {
  const body = JSON.stringify(fields);
  return Buffer.from(
    'POST /v1/audio/speech HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
      `Accept: application/octet-stream\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

class Connection {
  readonly latenciesMs: number[] = [];
  answers = 0;
  wrong = 0;
  bodyBytes = 0;
  counting = false;
  readonly #socket: Socket;
  readonly #request: Buffer;
  #askedAt = 0;
  /** Bytes of the answer that are still to come; negative while its head is not there whole. */
  #left = -1;
  #head: Buffer = Buffer.alloc(0);

  constructor(port: number, request: Buffer) {
    this.#request = request;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => this.#ask());
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', () => this.wrong++);
  }

  close(): void {
    this.#socket.destroy();
  }

  #ask(): void {
    this.#askedAt = performance.now();
    this.#socket.write(this.#request);
  }

  #take(chunk: Buffer): void {
    if (this.#left >= 0) this.#left -= chunk.length;
    else this.#readHead(this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]));
    if (this.#left !== 0) return;
    this.#left = -1;
    if (this.counting) {
      this.answers++;
      this.latenciesMs.push(performance.now() - this.#askedAt);
    }
    this.#ask();
  }

  #readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) {
      this.#head = bytes;
      return;
    }
    this.#head = Buffer.alloc(0);
    const head = bytes.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? NaN);
    if (!head.startsWith('HTTP/1.1 200') || Number.isNaN(length)) {
      this.wrong++;
      this.#socket.destroy();
      return;
    }
    this.bodyBytes = length;
    this.#left = length - (bytes.length - end - HEAD_END.length);
  }
}

export async function runLoad({ port, connections, fields, warmUpMs, runMs }: Load): Promise<LoadFigures> {
  const request = requestOf(fields);
  const open = Array.from({ length: connections }, () => new Connection(port, request));
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(warmUpMs);
  for (const connection of open) connection.counting = true;
  const from = performance.now();
  await wait(runMs);
  const seconds = (performance.now() - from) / 1000;
  for (const connection of open) connection.close();
  const answers = open.reduce((sum, connection) => sum + connection.answers, 0);
  return {
    answers,
    perSecond: answers / seconds,
    latenciesMs: open.flatMap(({ latenciesMs }) => latenciesMs),
    wrong: open.reduce((sum, { wrong }) => sum + wrong, 0),
    bodyBytes: open[0]?.bodyBytes ?? 0,
  };
}

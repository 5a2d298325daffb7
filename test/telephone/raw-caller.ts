// A caller that writes its own SIP, well-formed or not, over a real loopback socket, and keeps every byte
// that comes back.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../fakes/until.js';
import type { Address } from '../interop/telephone/sipp.js';

let counter = 0;
/** A local port without a listener. Packets to the discard port, 9, are never sent. */
const DEAF_PORT = 65_534;

interface Wording {
  readonly method?: string;
  readonly uri?: string;
  readonly callId?: string;
  readonly fromTag?: string;
  readonly toTag?: string;
  readonly cseq?: number;
  readonly headers?: readonly string[];
  readonly body?: string;
  /** A new one if absent. */
  readonly branch?: string;
}

/** A connection that sends requests to the server and reads its messages. */
interface RawCaller {
  readonly local: Address;
  readonly transport: 'UDP' | 'TCP';
  /** Messages received. */
  readonly heard: string[];
  send(text: string | Buffer): void;
}

export class UdpCaller implements RawCaller {
  readonly transport = 'UDP';
  readonly heard: string[] = [];
  readonly local: Address;
  readonly #socket: UdpSocket;
  readonly #to: Address;
  #closed: Promise<void> | undefined;

  private constructor(socket: UdpSocket, to: Address) {
    const { address: host, port } = socket.address();
    this.#socket = socket;
    this.#to = to;
    this.local = { host, port };
    socket.on('message', (bytes) => this.heard.push(bytes.toString('latin1')));
  }

  /** `port`: its own; a free one if absent. */
  static async open(to: Address, host = '127.0.0.1', port = 0): Promise<UdpCaller> {
    const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: 4_194_304 });
    socket.bind(port, host);
    await once(socket, 'listening');
    return new UdpCaller(socket, to);
  }

  send(text: string | Buffer): void {
    this.#socket.send(text, this.#to.port, this.#to.host);
  }

  /** Resolves when everything written so far was sent. */
  async sent(text: string | Buffer): Promise<void> {
    await new Promise((resolve) => this.#socket.send(text, this.#to.port, this.#to.host, resolve));
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#socket.close(() => resolve()));
    return this.#closed;
  }
}

export class TcpCaller implements RawCaller {
  readonly transport = 'TCP';
  readonly socket: Socket;
  readonly local: Address;
  #text = '';
  #closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.local = { host: socket.localAddress ?? '', port: socket.localPort ?? 0 };
    socket.on('data', (bytes) => (this.#text += bytes.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.#closed = true));
  }

  /** `host`: the source address. */
  static async open(to: Address, host = '127.0.0.1'): Promise<TcpCaller> {
    const socket = connect({ host: to.host, port: to.port, localAddress: host });
    await once(socket, 'connect');
    return new TcpCaller(socket);
  }

  /** Takes over an open socket, such as one of TLS. */
  static over(socket: Socket): TcpCaller {
    return new TcpCaller(socket);
  }

  get heard(): string[] {
    return this.#text
      .split(/(?=^SIP\/2\.0 |^[A-Z]+ \S+ SIP\/2\.0\r\n)/m)
      .filter((message) => message.trim() !== '');
  }

  get bytes(): number {
    return this.#text.length;
  }

  /** The server has closed the connection. */
  get isCut(): boolean {
    return this.#closed;
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed) resolve();
      else this.socket.once('close', () => resolve()).destroy();
    });
  }
}

/**
 * The text of a request from this caller; by default an INVITE that offers PCMU at a port where nobody
 * listens.
 */
export function request(from: RawCaller, wording: Wording = {}): string {
  const n = ++counter;
  const {
    method = 'INVITE',
    uri = 'sip:parley@127.0.0.1',
    callId = `raw${n}@test`,
    fromTag = `f${n}`,
  } = wording;
  const { toTag, cseq = 1, headers = [], branch = `z9hG4bKraw${n}` } = wording;
  const body = wording.body ?? (method === 'INVITE' ? offer(from.local.host, DEAF_PORT) : '');
  const place = from.local.host.includes(':') ? `[${from.local.host}]` : from.local.host;
  return [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/${from.transport} ${place}:${from.local.port};branch=${branch};rport`,
    'Max-Forwards: 70',
    `From: <sip:raw@test>;tag=${fromTag}`,
    `To: <${uri}>${toTag === undefined ? '' : `;tag=${toTag}`}`,
    `Call-ID: ${callId}`,
    `CSeq: ${cseq} ${method}`,
    `Contact: <sip:raw@${place}:${from.local.port};transport=${from.transport.toLowerCase()}>`,
    ...headers,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** An offer of PCMU. */
export function offer(host: string, port: number): string {
  const family = host.includes(':') ? 'IP6' : 'IP4';
  return `v=0\r\no=- 1 1 IN ${family} ${host}\r\ns=-\r\nc=IN ${family} ${host}\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0\r\n`;
}

export function statusOf(message: string): number {
  return Number(/^SIP\/2\.0 (\d{3})/.exec(message)?.[1] ?? 0);
}

export function field(message: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(.*)\\r$`, 'im').exec(message)?.[1];
}

/** The final response to a new INVITE that the server has processed; it is not acknowledged. */
export async function refusalOf(caller: RawCaller, wording: Wording = {}): Promise<string> {
  for (;;) {
    const callId = `refused${++counter}@test`;
    caller.send(request(caller, { ...wording, callId }));
    const answer = await finalOf(caller, callId);
    if (!isOverloaded(answer)) return answer;
  }
}

/** The final response for this Call-ID and method. */
export async function finalOf(caller: RawCaller, callId: string, method = 'INVITE'): Promise<string> {
  const find = () =>
    caller.heard.find(
      (message) =>
        statusOf(message) >= 200 &&
        field(message, 'Call-ID') === callId &&
        (field(message, 'CSeq') ?? '').endsWith(method),
    );
  await until(() => find() !== undefined);
  return find() ?? '';
}

/** An established call, as its caller knows it. */
export interface RawCall {
  readonly callId: string;
  readonly fromTag: string;
  readonly toTag: string;
  readonly answer: string;
}

/**
 * Calls, and acknowledges the answer unless told otherwise. Rejects if the answer is not 200. Calls again if
 * an overloaded server does not process the call at all.
 */
export async function callFrom(
  caller: RawCaller,
  wording: Wording = {},
  acknowledges = true,
): Promise<RawCall> {
  for (;;) {
    try {
      return await tryCall(caller, wording, acknowledges);
    } catch (error) {
      if (!isOverloaded((error as Error).message)) throw error;
    }
  }
}

/** Refused before anything was stored: the response does not even name the server. */
export function isOverloaded(answer: string): boolean {
  return statusOf(answer) === 503 && field(answer, 'Server') === undefined;
}

async function tryCall(caller: RawCaller, wording: Wording, acknowledges: boolean): Promise<RawCall> {
  const n = ++counter;
  const { callId = `call${n}@test`, fromTag = `c${n}` } = wording;
  caller.send(request(caller, { ...wording, callId, fromTag }));
  const answer = await finalOf(caller, callId);
  if (statusOf(answer) !== 200) throw new Error(answer);
  const call = {
    callId,
    fromTag,
    toTag: /;tag=([^;\r]+)/.exec(field(answer, 'To') ?? '')?.[1] ?? '',
    answer,
  };
  if (acknowledges) caller.send(request(caller, { method: 'ACK', ...idOf(call) }));
  return call;
}

/** Dialog fields of requests within the call. */
export function idOf({ callId, fromTag, toTag }: RawCall): Wording {
  return { callId, fromTag, toTag };
}

/** Hangs up; resolves at the server's 200. */
export async function hangUp(caller: RawCaller, call: RawCall): Promise<void> {
  caller.send(request(caller, { method: 'BYE', ...idOf(call), cseq: 2 }));
  const answer = await finalOf(caller, call.callId, 'BYE');
  if (statusOf(answer) !== 200) throw new Error(answer);
}

/** A response to a request of the server; 200 by default. */
export function okTo(text: string, status = 200, tag = ''): string {
  const lines = text.split('\r\n').filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line));
  const tagged = lines.map((line) => (/^To:/i.test(line) && tag !== '' ? `${line};tag=${tag}` : line));
  return [`SIP/2.0 ${status} So`, ...tagged, 'Content-Length: 0', '', ''].join('\r\n');
}

/** A 200 to the server's INVITE, which accepts PCMU at a port where nobody listens. */
export function acceptanceOf(invite: string, { host, port }: Address, transport = 'udp'): string {
  const body = offer(host, DEAF_PORT);
  const own = [
    `Contact: <sip:there@${host}:${port};transport=${transport}>`,
    'Content-Type: application/sdp',
  ];
  return okTo(invite, 200, 'there').replace(
    /Content-Length: 0\r\n\r\n$/,
    [...own, `Content-Length: ${body.length}`, '', body].join('\r\n'),
  );
}

// Takes the connections of Asterisk's AudioSocket. Each is a call of its own, which an agent conducts, or an
// application that attaches to it.
//
//   Asterisk ── UUID, sound, keys, hang-up ──▶ call
//            ◀── sound, hang-up ────────────── call
import { once } from 'node:events';
import { BlockList, createServer, type Server, type Socket } from 'node:net';
import { type CallHandler, NO_AGENT } from '../../call/call-handler.js';
import type { SoundCall, SoundCalls } from '../../call/sound-calls.js';
import { MU_LAW, MU_LAW_VALUES } from '../../codecs/g711.js';
import type { AudioSocketConfig } from '../../config/audiosocket-config.js';
import { asParleyError, ParleyError } from '../../errors.js';
import { eventOf } from '../../media/media-socket.js';
import type { Time } from '../../time.js';
import {
  type AudioSocketMessage,
  AudioSocketReader,
  isSound,
  KIND,
  messageOf,
  uuidOf,
} from './audiosocket-messages.js';

interface AudioSocketParts {
  readonly soundCalls: Pick<SoundCalls, 'open'>;
  readonly handler: Pick<CallHandler, 'usual' | 'has' | 'handle'>;
  readonly time: Time;
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    warn(fields: Record<string, unknown>, message: string): void;
  };
}

const PROTOCOL = 'audiosocket';
const MOST_CONNECTIONS = 2000;
const UUID_MS = 5000; // from the connection to its first message
const LINGER_MS = 2000; // for the far end to close its side
const MOST_UNREAD_BYTES = 256 * 1024; // 16 s of sound at 8 kHz
const NARROW = { sends: 'PCMU', receives: 'PCMU' } as const;
const WIDE = { sends: 'L16', receives: 'L16' } as const;

/** Undefined without a configuration. Throws CONFIG_INVALID. */
export async function openAudioSocket(
  config: AudioSocketConfig | undefined,
  parts: AudioSocketParts,
): Promise<AudioSocketServer | undefined> {
  if (config === undefined) return undefined;
  const { agent } = config;
  if (agent !== undefined && agent !== NO_AGENT && !parts.handler.has(agent))
    throw new ParleyError('CONFIG_INVALID', `AUDIOSOCKET_AGENT names no agent: ${JSON.stringify(agent)}`);
  const server = new AudioSocketServer(config, parts);
  await server.listen();
  return server;
}

export class AudioSocketServer {
  readonly #config: AudioSocketConfig;
  readonly #parts: AudioSocketParts;
  readonly #server: Server;
  readonly #allowed = new BlockList();
  readonly #connections = new Set<AudioSocketConnection>();

  constructor(config: AudioSocketConfig, parts: AudioSocketParts) {
    this.#config = config;
    this.#parts = parts;
    for (const item of config.allow) allow(this.#allowed, item);
    this.#server = createServer({ noDelay: true }, (socket) => this.#take(socket));
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  /** 0 before it listens. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  async listen(): Promise<void> {
    const { host, port } = this.#config;
    this.#server.listen(port, host);
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      const { message } = asParleyError(error, 'CONFIG_INVALID');
      throw new ParleyError('CONFIG_INVALID', `AUDIOSOCKET_PORT ${port} of ${host}: ${message}`);
    }
    this.#parts.log.info({ host, port: this.port }, 'AudioSocket listens');
  }

  /** Ends every call. Resolves when all connections are closed. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) connection.end('server closing');
    await closed;
  }

  #take(socket: Socket): void {
    const { remoteAddress = '', remoteFamily = 'IPv4' } = socket;
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1];
    const family = mapped === undefined && remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4';
    const address = mapped ?? remoteAddress;
    if (this.#config.allow.length > 0 && !this.#allowed.check(address, family)) {
      this.#parts.log.warn({ address }, 'AudioSocket refused: AUDIOSOCKET_ALLOW does not name the address');
      socket.destroy();
      return;
    }
    const { usual } = this.#parts.handler;
    const agent = this.#config.agent ?? usual;
    const parts = { ...this.#parts, address, agent: agent === NO_AGENT ? undefined : agent };
    const connection = new AudioSocketConnection(socket, parts);
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }
}

/** `item`: an address, or a network such as 10.0.0.0/8. */
function allow(list: BlockList, item: string): void {
  const [address = '', bits] = item.split('/');
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

interface ConnectionParts extends AudioSocketParts {
  readonly address: string;
  readonly agent: string | undefined;
}

class AudioSocketConnection {
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #reader = new AudioSocketReader();
  readonly #cancelUuid: () => void;
  #cancelLinger: () => void = () => undefined;
  #call: SoundCall | undefined;
  #isEnding = false;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#cancelUuid = parts.time.after(UUID_MS, () => this.end('no UUID came'));
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('end', () => this.end('peer hung up'));
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => this.#closed());
  }

  /** Hangs up. Idempotent. */
  end(reason: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#cancelUuid();
    const { time, log, address } = this.#parts;
    if (this.#call === undefined) log.warn({ address, reason }, 'AudioSocket ended without a call');
    this.#socket.end(messageOf(KIND.hangUp));
    this.#cancelLinger = time.after(LINGER_MS, () => this.#socket.destroy());
    void this.#call?.call.close(reason);
  }

  #closed(): void {
    this.end('peer hung up');
    this.#cancelLinger();
  }

  #read(bytes: Buffer): void {
    for (const message of this.#reader.push(bytes)) {
      if (this.#isEnding) return;
      try {
        if (this.#call === undefined) this.#begin(message);
        else this.#obey(this.#call, message);
      } catch (error) {
        const { code, message: detail } = asParleyError(error, 'WRONG_STATE');
        this.#parts.log.warn({ address: this.#parts.address, code, detail }, 'AudioSocket failed');
        this.end(code);
      }
    }
  }

  /** The first message names the call. */
  #begin(message: AudioSocketMessage): void {
    const uuid = uuidOf(message);
    if (uuid === undefined)
      throw new ParleyError('MALFORMED', 'the first message must be a UUID of 16 bytes');
    this.#cancelUuid();
    const { soundCalls, handler, address, agent, log } = this.#parts;
    this.#call = soundCalls.open({
      protocol: PROTOCOL,
      clients: [address],
      owner: undefined,
      ...NARROW,
      from: `${PROTOCOL}:${uuid}`,
      onFrame: (payload) => this.#send(payload),
    });
    const { call, handled } = this.#call;
    log.info({ call: call.id, uuid, address }, 'AudioSocket call');
    void call.closed.then((reason) => this.end(reason));
    if (agent !== undefined) handler.handle(agent, handled);
  }

  #obey({ call }: SoundCall, { kind, payload }: AudioSocketMessage): void {
    if (isSound(kind)) return this.#hear(kind, payload);
    switch (kind) {
      case KIND.hangUp:
        return this.end('peer hung up');
      case KIND.key: {
        const key = payload.toString('latin1').toUpperCase();
        return eventOf(key) === undefined ? undefined : call.pressed(key);
      }
      case KIND.error:
        throw new ParleyError('WRONG_STATE', `the far end reports the error ${payload.toString('hex')}`);
      default:
        return undefined; // kinds to come
    }
  }

  /** The far end chooses the rate, with each message. */
  #hear(kind: number, payload: Buffer): void {
    if (kind !== KIND.slin8 && kind !== KIND.slin24)
      throw new ParleyError(
        'INVALID_FIELD',
        `sound of kind 0x${kind.toString(16)} came: the channel must have slin (8 kHz) or slin24`,
      );
    if (payload.length % 2 !== 0)
      throw new ParleyError('INVALID_FIELD', 'a message of sound must have whole samples of 16 bits');
    const isWide = kind === KIND.slin24;
    this.#call?.change(isWide ? WIDE : NARROW);
    this.#call?.receive(isWide ? Buffer.from(payload).swap16() : narrowed(payload));
  }

  #send(frame: Uint8Array): void {
    if (this.#isEnding) return;
    if (this.#socket.writableLength > MOST_UNREAD_BYTES) {
      this.#parts.log.warn({ address: this.#parts.address }, 'AudioSocket ended: the far end reads nothing');
      this.end('peer reads nothing');
      this.#socket.destroy();
      return;
    }
    const isWide = this.#call?.formats.sends === 'L16';
    const sound = isWide ? Buffer.from(frame).swap16() : widened(frame);
    this.#socket.write(messageOf(isWide ? KIND.slin24 : KIND.slin8, sound));
  }
}

/** Samples of 16 bits as G.711. */
function narrowed(samples: Buffer): Uint8Array {
  return Uint8Array.from(
    { length: samples.length / 2 },
    (_, n) => MU_LAW[samples.readInt16LE(2 * n) + 32_768] ?? 0xff,
  );
}

/** G.711 as samples of 16 bits. */
function widened(frame: Uint8Array): Buffer {
  const samples = Buffer.alloc(2 * frame.length);
  for (const [n, code] of frame.entries()) samples.writeInt16LE(MU_LAW_VALUES[code] ?? 0, 2 * n);
  return samples;
}

// Takes the calls of Asterisk's AudioSocket, which come over TCP. The protocol has no keys: addresses decide
// who may call.
import { BlockList, createServer, isIP, type Server, type Socket } from 'node:net';
import type { AudioSocketConfig } from '../../config/audio-socket-config.js';
import { guarded, ParleyError } from '../../errors.js';
import { AudioSocketCall, type AudioSocketCallParts } from './audio-socket-call.js';

interface AudioSocketParts extends Omit<AudioSocketCallParts, 'config'> {
  readonly config: { readonly audioSocket: AudioSocketConfig | undefined };
  /** Closes the server with the others. */
  readonly closing: { add(step: () => Promise<void>): void };
}

const MOST_SILENT = 64; // connections without a call: their UUID is still to come, or their call is over

/** Listens if the configuration asks for it. Rejects with CONFIG_INVALID if that is not possible. */
export async function openAudioSocket(parts: AudioSocketParts): Promise<void> {
  const config = parts.config.audioSocket;
  if (config === undefined) return;
  const server = new AudioSocketServer(config, parts);
  parts.closing.add(() => server.close());
  const port = await server.listen();
  parts.log.info({ address: config.address, port, allow: config.allow }, 'AudioSocket listens');
}

export class AudioSocketServer {
  readonly #config: AudioSocketConfig;
  readonly #parts: AudioSocketCallParts;
  readonly #allowed: BlockList;
  readonly #server: Server;
  readonly #calls = new Set<AudioSocketCall>();
  #isListening = false;
  #closing: Promise<void> | undefined;

  constructor(config: AudioSocketConfig, parts: Omit<AudioSocketCallParts, 'config'>) {
    this.#config = config;
    this.#parts = { ...parts, config };
    this.#allowed = listOf(config.allow);
    this.#server = createServer((socket) => {
      const connected = () => this.#connected(socket);
      guarded({ work: 'AudioSocket call' }, connected, () => socket.destroy())();
    });
  }

  /** Resolves with its port. Rejects with CONFIG_INVALID. */
  listen(): Promise<number> {
    const { address: host, port } = this.#config;
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) => {
        const message = `cannot listen on AUDIOSOCKET_ADDRESS=${host}, AUDIOSOCKET_PORT=${port}: ${error.message}`;
        reject(new ParleyError('CONFIG_INVALID', message, { cause: error }));
      });
      this.#server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }, () => {
        this.#isListening = true;
        // Out of file descriptors, for one: the connection is lost, and the server goes on.
        this.#server.on('error', (error) =>
          this.#parts.log.warn({ err: error }, 'AudioSocket accepts nothing'),
        );
        const bound = this.#server.address();
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
      });
    });
  }

  /** Ends its calls and connections. Idempotent: every caller gets the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const stopped = this.#isListening
      ? new Promise<void>((resolve) => this.#server.close(() => resolve()))
      : Promise.resolve();
    await Promise.all([...this.#calls].map((call) => call.close('server closing')));
    await stopped;
  }

  #connected(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const refusal = this.#refusalOf(address);
    if (refusal !== undefined) {
      const { code, message } = refusal;
      this.#parts.log.warn({ address, code, reason: message }, 'AudioSocket connection refused');
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    const call = new AudioSocketCall(socket, address, this.#parts);
    this.#calls.add(call);
    void call.closed.then(() => this.#calls.delete(call));
  }

  #refusalOf(address: string): ParleyError | undefined {
    if (this.#closing !== undefined) return new ParleyError('CALL_CLOSED', 'the server is closing');
    const plain = withoutZone(address);
    if (!this.#allowed.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4'))
      return new ParleyError('FORBIDDEN', 'AUDIOSOCKET_ALLOW does not name this address');
    let silent = 0;
    for (const call of this.#calls) if (!call.isTalking) silent++;
    if (silent < MOST_SILENT) return undefined;
    return new ParleyError('OVERLOADED', `${MOST_SILENT} connections without a call are open`);
  }
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [name = '', bits] = network.split('/');
    const address = withoutZone(name);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** An address without the interface of this machine, such as `fe80::1` of `fe80::1%eth0`. */
function withoutZone(address: string): string {
  return address.replace(/%.*/, '');
}

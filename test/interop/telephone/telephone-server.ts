// A server as users run it, with telephone calls on loopback.
import { writeFileSync } from 'node:fs';
import { readConfig } from '../../../src/config/config.js';
import type { Environment } from '../../../src/config/environment.js';
import { startServer, type Server } from '../../../src/main.js';
import type { Telephone } from '../../../sip/telephone/telephone.js';
import { freePorts, RTP_PORTS_OF_SERVER } from '../../fakes/free-port.js';
import { ScratchFolder } from './program.js';
import type { Address } from './sipp.js';
import type { Sound } from './sound-shape.js';

/** The greeting: two sentences of about four seconds together. */
export const GREETING = 'Your order has shipped. It arrives on Tuesday.';
const RATE = 8000;

export interface TelephoneFiles {
  /** Contents of SIP_ROUTES, SIP_TRUNKS (the lists) and SIP_USERS_FILE (passwords by name). */
  readonly routes?: readonly unknown[];
  readonly trunks?: readonly unknown[];
  readonly users?: Readonly<Record<string, string>>;
}

export class TelephoneServer {
  readonly server: Server;
  readonly telephone: Telephone;
  /** UDP and TCP. */
  readonly address: Address;
  /** TLS listening address, if the environment names a certificate. */
  readonly tlsAddress: Address;
  readonly #folder: ScratchFolder;

  private constructor(server: Server, telephone: Telephone, port: number, folder: ScratchFolder) {
    this.server = server;
    this.telephone = telephone;
    this.address = { host: '127.0.0.1', port };
    this.tlsAddress = { host: '127.0.0.1', port: port + 1 };
    this.#folder = folder;
  }

  static async start(environment: Environment = {}, files: TelephoneFiles = {}): Promise<TelephoneServer> {
    const folder = new ScratchFolder();
    const port = Number(environment['SIP_PORT'] ?? (await freePorts(2)));
    const own = {
      PORT: '0',
      ENGINE: 'flite',
      LOG_LEVEL: 'silent',
      SIP_PORT: `${port}`,
      ...RTP_PORTS_OF_SERVER,
      SIP_RATE: '1000',
      GREETING,
    };
    const withTls = environment['SIP_TLS_CERT'] === undefined ? {} : { SIP_TLS_PORT: `${port + 1}` };
    try {
      const config = readConfig({ ...own, ...withTls, ...writeFiles(folder, files), ...environment });
      const server = await startServer(config);
      if (server.telephone === undefined) throw new Error('the server takes no telephone calls');
      return new TelephoneServer(server, server.telephone, port, folder);
    } catch (error) {
      folder.remove();
      throw error;
    }
  }

  /**
   * A text as it sounds over HTTP, at the rate of a telephone; `fields` are more of the request, such as
   * `voice`.
   */
  async rendered(text: string, fields: Readonly<Record<string, string>> = {}): Promise<Sound> {
    const response = await fetch(`${this.server.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: text, response_format: 'pcm', sample_rate: RATE, ...fields }),
    });
    if (!response.ok) throw new Error(await response.text());
    const bytes = Buffer.from(await response.arrayBuffer());
    const samples = Float32Array.from(
      { length: bytes.length / 2 },
      (_, n) => bytes.readInt16LE(2 * n) / 32_768,
    );
    return { samples, rate: RATE };
  }

  async close(): Promise<void> {
    await this.server.close();
    this.#folder.remove();
  }
}

function writeFiles(folder: ScratchFolder, { routes, trunks, users }: TelephoneFiles): Environment {
  const written: Record<string, string> = {};
  const write = (variable: string, text: string): void => {
    written[variable] = folder.at(variable);
    writeFileSync(folder.at(variable), text);
  };
  if (routes !== undefined) write('SIP_ROUTES', JSON.stringify({ routes }));
  if (trunks !== undefined) write('SIP_TRUNKS', JSON.stringify({ trunks }));
  if (users !== undefined)
    write(
      'SIP_USERS_FILE',
      Object.entries(users)
        .map((pair) => `${pair.join(':')}\n`)
        .join(''),
    );
  return written;
}

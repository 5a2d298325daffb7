// rtpengine as a media relay in user space: no kernel module, no rights.
import { freePorts, isHeld } from '../../fakes/free-port.js';
import { Program, ScratchFolder } from './program.js';
import type { Address } from './sipp.js';

const START_LIMIT_MS = 5000;
const MEDIA_PORTS = 40;

export class Rtpengine {
  /** Control address for the proxy (ng protocol over UDP). */
  readonly control: Address;
  /** Ports that it relays from: the first, and the number of them. */
  readonly media: { readonly first: number; readonly count: number };
  readonly #program: Program;
  readonly #folder: ScratchFolder;
  #closed: Promise<void> | undefined;

  private constructor(control: number, first: number, program: Program, folder: ScratchFolder) {
    this.control = { host: '127.0.0.1', port: control };
    this.media = { first, count: MEDIA_PORTS };
    this.#program = program;
    this.#folder = folder;
  }

  /** Resolves once it can be told of calls. */
  static async start(): Promise<Rtpengine> {
    const folder = new ScratchFolder();
    const control = await freePorts();
    const first = await freePorts(MEDIA_PORTS);
    const place = [
      `--listen-ng=127.0.0.1:${control}`,
      `--pidfile=${folder.at('pid')}`,
      '--interface=127.0.0.1',
    ];
    const ports = [`--port-min=${first}`, `--port-max=${first + MEDIA_PORTS - 1}`];
    // No table of the kernel's module, one thread, nothing kept of calls that are over, and itself told of on
    // standard error.
    const manner = [
      '--config-file=none',
      '--table=-1',
      '--num-threads=1',
      '--delete-delay=0',
      '--foreground',
    ];
    const program = new Program('rtpengine', [
      ...manner,
      ...place,
      ...ports,
      '--log-stderr',
      '--log-level=6',
    ]);
    const rtpengine = new Rtpengine(control, first, program, folder);
    try {
      await program.until('listen', START_LIMIT_MS, () => isHeld('udp', control));
      return rtpengine;
    } catch (error) {
      await rtpengine.close();
      throw error;
    }
  }

  /** Log output about calls and relayed media. */
  get output(): string {
    return this.#program.output;
  }

  /** True if the port is one of its own. */
  relaysFrom(port: number): boolean {
    return port >= this.media.first && port < this.media.first + this.media.count;
  }

  close(): Promise<void> {
    this.#closed ??= this.#program.close().then(() => this.#folder.remove());
    return this.#closed;
  }
}

// The addresses of this machine. A phone on it may send from any of them to a
// server on 127.0.0.1: softphones bind to the network's interface. From outside
// nobody can take one for a source: the kernel drops such packets as martians.
import { networkInterfaces } from 'node:os';
import type { Time } from '../../src/time.js';
import { parseAddress } from './address-list.js';

/** As node:os has it. */
export type Interfaces = () => Readonly<Record<string, readonly { readonly address: string }[] | undefined>>;

const FRESH_MS = 5000; // addresses come and go with networks; asking costs system calls

export class OwnAddresses {
  readonly #time: Time;
  readonly #interfaces: Interfaces;
  #names: ReadonlySet<string> = new Set();
  #readAtMs = -Infinity;

  constructor(time: Time, interfaces: Interfaces = networkInterfaces) {
    this.#time = time;
    this.#interfaces = interfaces;
  }

  /** `name` is an address as parseAddress writes it. */
  has(name: string): boolean {
    const now = this.#time.now();
    if (now - this.#readAtMs >= FRESH_MS) {
      this.#readAtMs = now;
      this.#names = this.#read();
    }
    return this.#names.has(name);
  }

  #read(): ReadonlySet<string> {
    const all = Object.values(this.#interfaces()).flatMap((some) => some ?? []);
    return new Set(all.flatMap(({ address }) => parseAddress(address)?.toString() ?? []));
  }
}

// Who an address is to the lists of the configuration. Those do not change, so
// each address is taken apart and looked up once, of as many as fit.
import { type AddressList, parseAddress, sourceKey } from './address-list.js';

export interface Source {
  /** The address as it is always written. */
  readonly name: string;
  /** The same for all addresses that are counted as one. */
  readonly key: string;
  readonly allowed: boolean;
  readonly challenged: boolean;
}

export interface SourceLists {
  readonly allowed: AddressList;
  readonly challenged: AddressList;
}

const MOST = 4096; // beyond that, who came first is looked up anew

export class Sources {
  readonly #lists: SourceLists;
  readonly #known = new Map<string, Source>();

  constructor(lists: SourceLists) {
    this.#lists = lists;
  }

  /** Sources that are remembered. */
  get size(): number {
    return this.#known.size;
  }

  of(address: string): Source {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const source = this.#lookUp(address);
    const [oldest] = this.#known.size < MOST ? [] : this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(address, source);
    return source;
  }

  #lookUp(address: string): Source {
    const parsed = parseAddress(address);
    const { allowed, challenged } = this.#lists;
    return {
      name: parsed?.toString() ?? address,
      key: sourceKey(address),
      allowed: allowed.has(parsed),
      challenged: challenged.has(parsed),
    };
  }
}

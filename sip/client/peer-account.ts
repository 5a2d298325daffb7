// Holds an account at a peer, such as a carrier, and the addresses of that peer. Credentials are sent
// only there: within a call the far end names the next target, which may be anybody.
import type { AuthorizationField, ClientVerdict, DigestClient } from '../auth/digest-client.js';
import type { DigestRequest } from '../auth/digest.js';
import type { AddressList } from '../guard/address-list.js';
import type { Target } from '../transport/outbound.js';

interface PeerAccountOptions {
  readonly digest: DigestClient;
  /** Configured addresses of the peer. */
  readonly listed: AddressList;
  /** Credentials are sent over TLS only. */
  readonly secureOnly: boolean;
}

type Place = Pick<Target, 'transport' | 'address'>;

const MOST_FOUND = 64; // addresses of one peer; the least recent one is dropped

export class PeerAccount {
  readonly #options: PeerAccountOptions;
  /** Keyed by address; true if it was found over TLS only. */
  readonly #found = new Map<string, boolean>();

  constructor(options: PeerAccountOptions) {
    this.#options = options;
  }

  /** Records an address of the peer that its name or its registrar led to; not the far end of a call. */
  found({ transport, address }: Place): void {
    const secure = isSecure(transport) && (this.#found.get(address) ?? true);
    this.#found.delete(address);
    this.#found.set(address, secure);
    const [oldest] = this.#found.keys();
    if (this.#found.size > MOST_FOUND && oldest !== undefined) this.#found.delete(oldest);
  }

  /** True if the peer is at this address, on any port. An address found over TLS counts over TLS only. */
  isAt({ transport, address }: Place): boolean {
    const { listed, secureOnly } = this.#options;
    const found = this.#found.get(address);
    if (isSecure(transport)) return found !== undefined || listed.has(address);
    return !secureOnly && (found === undefined ? listed.has(address) : !found);
  }

  /** Credentials for a request to this place, with the nonces known so far; none for other places. */
  authorize(target: Place, request: DigestRequest): AuthorizationField[] {
    return this.isAt(target) ? this.#options.digest.authorize(request) : [];
  }

  /**
   * Credentials for repeating a request that was challenged there; challenges of other places are not
   * answered.
   */
  answer(
    target: Place,
    challenges: { readonly www: readonly string[]; readonly proxy: readonly string[] },
    request: DigestRequest,
    sent: readonly AuthorizationField[],
  ): ClientVerdict {
    const { digest } = this.#options;
    if (!this.isAt(target)) return { failure: 'unknown-realm' };
    return digest.answer(digest.peer, challenges, request, sent);
  }
}

function isSecure(transport: Target['transport']): boolean {
  return transport === 'tls' || transport === 'wss';
}

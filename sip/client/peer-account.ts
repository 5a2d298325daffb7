// An account at a peer, such as a carrier, and where that peer is. What can be
// tried against a password goes there and nowhere else: within a call the far
// end says where requests go, and may name anybody.
import type { AuthorizationField, ClientVerdict, DigestClient } from '../auth/digest-client.js';
import type { DigestRequest } from '../auth/digest.js';
import type { AddressList } from '../guard/address-list.js';
import type { Target } from '../transport/outbound.js';

export interface PeerAccountOptions {
  readonly digest: DigestClient;
  /** Where the peer is, as far as that is configured. */
  readonly listed: AddressList;
  /** It is reached over TLS alone: nobody on the way is to read what it is shown. */
  readonly secureOnly: boolean;
}

type Place = Pick<Target, 'transport' | 'address'>;

const MOST_FOUND = 64; // addresses of one peer; the one that was not met for longest is forgotten

export class PeerAccount {
  readonly #options: PeerAccountOptions;
  /** By address; true if it was found over TLS alone. */
  readonly #found = new Map<string, boolean>();

  constructor(options: PeerAccountOptions) {
    this.#options = options;
  }

  /** The peer itself is there: its name or its registrar has led to this place, not the far end of a call. */
  found({ transport, address }: Place): void {
    const secure = isSecure(transport) && (this.#found.get(address) ?? true);
    this.#found.delete(address);
    this.#found.set(address, secure);
    const [oldest] = this.#found.keys();
    if (this.#found.size > MOST_FOUND && oldest !== undefined) this.#found.delete(oldest);
  }

  /** Whether the peer is there, by its address: its ports are its own. What was found over TLS is met over TLS only. */
  isAt({ transport, address }: Place): boolean {
    const { listed, secureOnly } = this.#options;
    const found = this.#found.get(address);
    if (isSecure(transport)) return found !== undefined || listed.has(address);
    return !secureOnly && (found === undefined ? listed.has(address) : !found);
  }

  /** For a request to this place: under the nonces that the peer has given so far. Nothing for anybody else. */
  authorize(target: Place, request: DigestRequest): AuthorizationField[] {
    return this.isAt(target) ? this.#options.digest.authorize(request) : [];
  }

  /** What to send a request again with that was challenged there; a stranger's challenge stands. */
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

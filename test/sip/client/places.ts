// Names and where they lead, for tests: a locator that knows what it was told.
import type { TargetFinder } from '../../../sip/client/target-walk.js';
import type { LocatedTarget, LocatedUri } from '../../../sip/locator/locator.js';
import type { TransportName } from '../../../sip/transport/flow.js';
import { parseUri, type Uri } from '../../../sip/message/uri.js';

export class Places implements TargetFinder {
  readonly asked: string[] = [];
  readonly #addresses: Readonly<Record<string, readonly string[]>>;
  transport: TransportName = 'udp';
  port = 5060;
  /** True if the name server does not answer. */
  silent = false;

  /** Names that are not among them are taken for addresses. */
  constructor(addresses: Readonly<Record<string, readonly string[]>> = {}) {
    this.#addresses = addresses;
  }

  async *locate({ host }: LocatedUri): AsyncGenerator<LocatedTarget, void, void> {
    this.asked.push(host);
    if (this.silent) await new Promise<never>(() => undefined);
    for (const address of this.#addresses[host] ?? [host]) {
      yield { transport: this.transport, family: 4, address, port: this.port, domain: host };
    }
  }
}

export function uriOf(text: string): Uri {
  const uri = parseUri(text);
  if (uri === undefined) throw new Error(`not a URI: ${text}`);
  return uri;
}

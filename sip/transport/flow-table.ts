// The connections that stand, by whom they reach, so that a request finds the
// one there is (RFC 3261, section 18.1.1).
import { type Flow, type Place, type TransportName } from './flow.js';

export class FlowTable {
  readonly #flows = new Map<string, Flow>();
  readonly #all = new Set<Flow>();

  get size(): number {
    return this.#all.size;
  }

  /** Under its remote end, or under another place that it reaches as well; until it closes. */
  add(flow: Flow, place: Place = flow.remote, name?: string): void {
    const key = keyOf(flow.transport, place, name);
    this.#flows.set(key, flow);
    this.#all.add(flow);
    flow.onClose(() => {
      this.#all.delete(flow);
      if (this.#flows.get(key) === flow) this.#flows.delete(key);
    });
  }

  /** `name`: what the certificate of the peer was checked for, where it was. */
  find(transport: TransportName, place: Place, name?: string): Flow | undefined {
    return this.#flows.get(keyOf(transport, place, name));
  }

  closeAll(): void {
    for (const flow of this.#all) flow.close();
  }
}

function keyOf(transport: TransportName, { address, port }: Place, name = ''): string {
  return `${transport} ${address} ${port} ${transport === 'tls' ? name : ''}`;
}

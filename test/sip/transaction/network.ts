// A network of two layers in time that a test holds: every datagram arrives
// after a while, or is lost where the test says so.
import type { SipRequest } from '../../../sip/message/message.js';
import type { RequestData } from '../../../sip/message/serialiser.js';
import type { ClientUser } from '../../../sip/transaction/client-transaction.js';
import type { Wire } from '../../../sip/transaction/outgoing-request.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import {
  TransactionLayer,
  type TransactionLayerOptions,
  type TransactionUser,
} from '../../../sip/transaction/transaction-layer.js';
import type { Flow, TransportFailure, TransportName } from '../../../sip/transport/flow.js';
import type { Target } from '../../../sip/transport/outbound.js';
import { ManualTime } from '../../fakes/manual-time.js';

interface Carried {
  readonly atMs: number;
  readonly from: string;
  readonly text: string;
  readonly lost: boolean;
}

/** Numbers from 0 to below 1, the same ones for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export class Network {
  readonly time = new ManualTime();
  readonly carried: Carried[] = [];
  /** Destination of each request. */
  readonly targets: Target[] = [];
  readonly delayMs: number;
  /** True if the next message is to be lost. */
  loses: (text: string, from: string) => boolean = () => false;
  /** True if the 100 is carried that every INVITE gets at once. Most tests are about what comes after it. */
  carriesTrying = false;
  /** If set, sending by a client fails with this error. */
  failure: TransportFailure | undefined;
  /** The same, by where it would send to. */
  failureAt: (address: string) => TransportFailure | undefined = () => undefined;
  /** False if responses cannot be sent. */
  canRespond = true;
  readonly #ends = new Map<string, (bytes: Buffer, flow: Flow) => void>();
  readonly #closers = new Set<() => void>();

  constructor(delayMs = 10) {
    this.delayMs = delayMs;
  }

  /** A layer at this address. */
  layer(
    address: string,
    user: TransactionUser,
    transport: TransportName = 'udp',
    more: Partial<TransactionLayerOptions> = {},
  ): TransactionLayer {
    let tokens = 0;
    const token = (): string => `${address.replaceAll('.', '')}${++tokens}`;
    const wire = this.#wire(address, transport);
    const layer = new TransactionLayer({ wire, user, time: this.time, token, ...more });
    this.#ends.set(address, (bytes, flow) => layer.received(bytes, flow));
    return layer;
  }

  /** An address that only keeps what it gets. */
  sink(address: string): void {
    this.#ends.set(address, () => undefined);
  }

  /** Lets time pass, with everything that follows from it. */
  async pass(ms: number, stepMs = 10): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await settled();
      this.time.advance(Math.min(stepMs, ms - passed));
    }
    await settled();
  }

  /** First lines of what one end sent, with their times. */
  sentBy(from: string): string[] {
    return this.carried
      .filter((one) => one.from === from)
      .map(({ atMs, text }) => `${atMs} ${/^.*/.exec(text)?.[0] ?? ''}`);
  }

  closeConnections(): void {
    for (const closer of this.#closers) closer();
  }

  /** Brings bytes to an address as if they had come from another. */
  post(from: string, to: string, bytes: Buffer, transport: TransportName = 'udp'): void {
    const text = bytes.toString();
    if (!this.carriesTrying && text.startsWith('SIP/2.0 100 ')) return;
    const lost = this.loses(text, from);
    this.carried.push({ atMs: this.time.now(), from, text, lost });
    if (lost) return;
    this.time.after(this.delayMs, () => this.#ends.get(to)?.(bytes, this.flow(to, from, transport)));
  }

  flow(local: string, remote: string, transport: TransportName = 'udp'): Flow {
    return {
      transport,
      reliable: transport !== 'udp',
      closed: false,
      local: { address: local, port: 5060 },
      remote: { address: remote, port: 5060 },
      send: (bytes) => {
        this.post(local, remote, bytes, transport);
        return true;
      },
      onClose: (listener) => {
        this.#closers.add(listener);
        return () => this.#closers.delete(listener);
      },
      close: () => undefined,
      received: 0,
      abandon: () => undefined,
    };
  }

  #wire(address: string, transport: TransportName): Wire {
    return {
      send: async (target, bytesFor) => {
        this.targets.push(target);
        const failure = this.failure ?? this.failureAt(target.address);
        if (failure !== undefined) return failure;
        const flow = target.flow ?? this.flow(address, target.address, transport);
        const bytes = bytesFor(flow);
        await flow.send(bytes);
        return { flow, bytes };
      },
      respond: async (bytes, _via, flow) => this.canRespond && flow.send(bytes),
      viaFor: (flow, branch) => `SIP/2.0/${flow.transport.toUpperCase()} ${address};branch=${branch}`,
    };
  }
}

export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

// The users of transactions keep the messages that they receive.

export const CALLER = '192.0.2.1';
export const CALLEE = '192.0.2.2';
export const TARGET = { transport: 'udp', address: CALLEE, port: 5060 } as const;

export function request(method = 'INVITE', callId = 'call'): RequestData {
  return {
    method,
    uri: `sip:bob@${CALLEE}`,
    headers: [
      ['From', `<sip:alice@${CALLER}>;tag=${callId}`],
      ['To', `<sip:bob@${CALLEE}>`],
      ['Call-ID', callId],
      ['CSeq', `1 ${method}`],
      ['Contact', `<sip:alice@${CALLER}>`],
    ],
  };
}

/** User of client transactions. */
export class Heard implements ClientUser {
  readonly events: (string | number)[] = [];

  response({ status }: { readonly status: number }): void {
    this.events.push(status);
  }

  failed({ reason, status }: { readonly reason: string; readonly status: number }): void {
    this.events.push(`${reason} ${status}`);
  }
}

/** User of server transactions. The test supplies the handling of requests. */
export class Callee implements TransactionUser {
  readonly transactions: ServerTransaction[] = [];
  readonly acks: SipRequest[] = [];
  readonly events: string[] = [];
  readonly #act: (transaction: ServerTransaction) => void;

  constructor(act: (transaction: ServerTransaction) => void = () => undefined) {
    this.#act = act;
  }

  request(incoming: SipRequest, transaction: ServerTransaction): void {
    this.events.push(incoming.method);
    this.transactions.push(transaction);
    transaction.user = {
      cancelled: () => this.events.push('cancelled'),
      acknowledged: () => this.events.push('acknowledged'),
      ended: (why) => this.events.push(`ended: ${why}`),
    };
    this.#act(transaction);
  }

  acknowledged(ack: SipRequest): void {
    this.acks.push(ack);
  }
}

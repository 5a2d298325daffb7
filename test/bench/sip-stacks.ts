// Two SIP stacks in one process: the calling one and the called one, each with
// a socket of its own on loopback, and calls between them as dialogs make them.
import { randomBytes } from 'node:crypto';
import type { SipResponse } from '../../sip/message/message.js';
import type { HeaderLine, RequestData } from '../../sip/message/serialiser.js';
import type { AcceptedAnswer, ServerTransaction } from '../../sip/transaction/server-transaction.js';
import { LoadGauge } from '../../sip/transaction/load-gauge.js';
import { TransactionLayer, type TransactionUser } from '../../sip/transaction/transaction-layer.js';
import type { Flow } from '../../sip/transport/flow.js';
import type { Target } from '../../sip/transport/outbound.js';
import { Transports } from '../../sip/transport/transports.js';
import { systemTime } from '../../src/time.js';

const SDP = [
  'v=0', 'o=- 20518 0 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 54400 RTP/AVP 0 8 9 101',
  'a=rtpmap:0 PCMU/8000', 'a=rtpmap:8 PCMA/8000', 'a=rtpmap:9 G722/8000', 'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-16', 'a=ptime:20', 'a=sendrecv', '',
].join('\r\n'); // prettier-ignore
const TYPE = ['Content-Type', 'application/sdp'] as const;

const SAMPLE = 6000;

export interface CallTimes {
  /** Milliseconds from INVITE to 200. */
  readonly setUpMs: number[];
  failed: number;
  /** Answered 503. */
  refused: number;
  done: number;
}

export class SipStacks {
  /** Messages that both have parsed, and the first of them. */
  messages = 0;
  readonly sample: Buffer[] = [];
  readonly #caller: TransactionLayer;
  readonly #callee: TransactionLayer;
  readonly #transports: Transports[];
  readonly #answers = new Map<string, AcceptedAnswer | undefined>();
  readonly #load = new LoadGauge({
    time: systemTime,
    delayMs: () => this.#transports[1]?.queueDelayMs() ?? 0,
  });
  #target: Target | undefined;

  constructor() {
    const called: TransactionUser = {
      request: (request, transaction) => this.#answer(request.method, request.callId, transaction),
      acknowledged: ({ callId }) => this.#answers.get(callId)?.stop(),
    };
    const nobody: TransactionUser = { request: () => undefined, acknowledged: () => undefined };
    const [callerWire, caller] = this.#stack(nobody);
    const [calleeWire, callee] = this.#stack(called, this.#load);
    this.#transports = [callerWire, calleeWire];
    this.#caller = caller;
    this.#callee = callee;
  }

  /** Requests that came again, at either end: what was sent twice. */
  get retransmissions(): number {
    return this.#callee.countOf('retransmissions') + this.#caller.countOf('retransmissions');
  }

  async open(): Promise<void> {
    for (const transports of this.#transports) await transports.open();
    const place = this.#transports[1]?.local('udp');
    if (place === undefined) throw new Error('nobody listens');
    this.#target = { transport: 'udp', ...place };
  }

  async close(): Promise<void> {
    this.#load.close();
    this.#caller.close();
    this.#callee.close();
    await Promise.all(this.#transports.map((transports) => transports.close()));
  }

  /** INVITE, 180, 200, ACK, and at once BYE, 200. `ended` is called when it is over, however it ended. */
  call(times: CallTimes, ended: () => void): void {
    const target = this.#target;
    if (target === undefined) throw new Error('not open');
    const startMs = performance.now();
    const id = randomBytes(8).toString('hex');
    const from = ['From', `"Bench" <sip:alice@127.0.0.1>;tag=${id}`] as const;
    const fail = (): void => {
      times.failed++;
      ended();
    };
    let isUp = false;
    const answered = (response: SipResponse): void => {
      if (response.status < 200 || isUp) return;
      isUp = true;
      if (response.status === 503) {
        times.refused++;
        return ended();
      }
      if (response.status !== 200) return fail();
      times.setUpMs.push(performance.now() - startMs);
      const to = response.first('to') ?? '';
      this.#caller.sendAck(requestOf('ACK', 1, id, from, to), target);
      this.#caller.send(requestOf('BYE', 2, id, from, to), target, { response: hungUp, failed: fail });
    };
    const hungUp = ({ status }: SipResponse): void => {
      if (status !== 200) return fail();
      times.done++;
      ended();
    };
    const invite = requestOf('INVITE', 1, id, from, '<sip:bob@127.0.0.1>', SDP);
    this.#caller.send(invite, target, { response: answered, failed: fail });
  }

  #answer(method: string, callId: string, transaction: ServerTransaction): void {
    if (method === 'BYE') {
      transaction.respond({ status: this.#answers.delete(callId) ? 200 : 481 });
      return;
    }
    const contact = ['Contact', '<sip:bob@127.0.0.1>'] as const;
    transaction.respond({ status: 180, headers: [contact] });
    const response = { status: 200, headers: [contact, TYPE], body: SDP };
    this.#answers.set(
      callId,
      this.#callee.accept(transaction, response, () => undefined),
    );
  }

  #stack(user: TransactionUser, load?: LoadGauge): [Transports, TransactionLayer] {
    const received = (bytes: Buffer, flow: Flow): void => {
      this.messages++;
      if (this.sample.length < SAMPLE) this.sample.push(bytes);
      layer.received(bytes, flow);
    };
    const transports = new Transports({
      listeners: [{ transport: 'udp', port: 0 }],
      time: systemTime,
      received,
    });
    const token = (): string => randomBytes(9).toString('base64url');
    const layer = new TransactionLayer({
      wire: transports,
      user,
      time: systemTime,
      token,
      ...(load && { load }),
    });
    return [transports, layer];
  }
}

function requestOf(
  method: string,
  cseq: number,
  id: string,
  from: HeaderLine,
  to: string,
  body = '',
): RequestData {
  const headers: HeaderLine[] = [
    from, ['To', to], ['Call-ID', id], ['CSeq', `${cseq} ${method}`], ['Contact', '<sip:alice@127.0.0.1>'],
    ['User-Agent', 'Parley bench'], ['Allow', 'INVITE, ACK, CANCEL, BYE, OPTIONS'], ['Supported', 'timer, replaces'],
  ]; // prettier-ignore
  if (body !== '') headers.push(TYPE);
  return { method, uri: 'sip:bob@127.0.0.1', headers, body };
}

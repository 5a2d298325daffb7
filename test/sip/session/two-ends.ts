// Two user agents on a network in a test's hands: one is called, the other one
// calls, as far as a call's first INVITE needs.
import assert from 'node:assert/strict';
import type {
  Acknowledgement,
  InviteUser,
  Journey,
  RequestMaker,
  RequestSender,
  SendOutcome,
  SentInvite,
} from '../../../sip/client/request-sender.js';
import { descriptionIn } from '../../../sip/message/body.js';
import type { SipResponse } from '../../../sip/message/message.js';
import type { Refusal, Result } from '../../../sip/message/refusal.js';
import type { HeaderLine, RequestData } from '../../../sip/message/serialiser.js';
import type { MediaPolicy } from '../../../sip/sdp/media-policy.js';
import type { Direction } from '../../../sip/sdp/session-description.js';
import { ALLOW, SUPPORTED } from '../../../sip/session/capabilities.js';
import { Dialog } from '../../../sip/session/dialog.js';
import { InDialog } from '../../../sip/session/in-dialog.js';
import type { InboundSession } from '../../../sip/session/inbound-session.js';
import type {
  Session,
  SessionEnd,
  SessionMedia,
  SessionUser,
  TransferAsked,
} from '../../../sip/session/session.js';
import { UserAgent, type UserAgentOptions } from '../../../sip/session/user-agent.js';
import type { ClientTransaction } from '../../../sip/transaction/client-transaction.js';
import type { TransactionLayer } from '../../../sip/transaction/transaction-layer.js';
import type { Target } from '../../../sip/transport/outbound.js';
import { negotiation } from '../sdp/negotiation-under-test.js';
import { CALLEE, CALLER, Network, seeded, TARGET } from '../transaction/network.js';

// DirectSender sends each request once to the address in the next hop, without a locator, failover or
// accounts.

export class DirectSender implements RequestSender {
  readonly #layer: TransactionLayer;
  /** Destination of each request. */
  readonly targets: Target[] = [];

  constructor(layer: TransactionLayer) {
    this.#layer = layer;
  }

  send(make: RequestMaker, journey: Journey): Promise<SendOutcome> {
    return new Promise((resolve) => {
      this.#layer.send(make([]), this.#target(journey), {
        response: (response) => {
          if (response.status >= 200) resolve({ response });
        },
        failed: (failure) => resolve({ failure }),
      });
    });
  }

  invite(make: RequestMaker, journey: Journey, user: InviteUser): SentInvite {
    const transaction = this.#layer.send(make([]), this.#target(journey), {
      response: (response) => {
        const { status } = response;
        if (status >= 300) user.refused({ response });
        else if (status >= 200) user.accepted(response);
        else if (status > 100) user.provisional(response);
      },
      failed: (failure) => user.refused({ failure }),
    });
    return { flow: undefined, cancel: () => transaction.cancel() };
  }

  ack(data: RequestData, journey: () => Journey): Acknowledgement {
    return this.#layer.sendAck(data, this.#target(journey()));
  }

  #target({ nextHop, flow, from }: Journey): Target {
    const target = {
      transport: 'udp',
      address: nextHop.host,
      port: nextHop.port ?? 5060,
      flow,
      from,
    } as const;
    this.targets.push(target);
    return target;
  }
}

// NegotiatedMedia negotiates descriptions like the media of a call, and keeps their outcome.

export class NegotiatedMedia implements SessionMedia {
  /** The way that the sound is wanted to flow; `inactive` and `sendonly` are hold. */
  wantedDirection: Direction = 'sendrecv';
  readonly #negotiation;

  constructor(address: string, seed: number, policy: Partial<MediaPolicy> = {}) {
    this.#negotiation = negotiation(
      { keyings: ['sdes'], security: 'off', ...policy },
      { ip4: address },
      seed,
    );
  }

  get offering(): boolean {
    return this.#negotiation.offering;
  }

  get agreed(): boolean {
    return this.#negotiation.agreed !== undefined;
  }

  get direction(): Direction | undefined {
    return this.#negotiation.agreed?.direction;
  }

  answer(offer: Uint8Array): Result<string> {
    const answered = this.#negotiation.answer(offer, this.wantedDirection);
    return answered.refusal === undefined ? { value: answered.value.answer } : answered;
  }

  offer(): Result<string> {
    return this.#negotiation.offer(this.wantedDirection);
  }

  accept(answer: Uint8Array): Result<void> {
    const accepted = this.#negotiation.accept(answer);
    return accepted.refusal === undefined ? { value: undefined } : accepted;
  }

  settle(): void {}

  signalledFrom(): void {}

  /** True if media may leave. */
  isConfirmed = false;

  /** Address of the signalling that is proven. */
  proven: string | undefined;

  confirmed(address?: string): void {
    this.isConfirmed = true;
    this.proven ??= address;
  }

  /** What `acknowledged` and `awaitAck` were called with. */
  readonly acks: ('ACK' | 'PRACK' | boolean)[] = [];

  acknowledged(by: 'ACK' | 'PRACK'): void {
    this.acks.push(by);
  }

  awaitAck(isAwaited: boolean): void {
    this.acks.push(isAwaited);
  }

  withdraw(): void {
    this.#negotiation.withdraw();
  }
}

/** Session events as words. */
export class SeenEvents implements SessionUser {
  readonly events: string[] = [];
  end: SessionEnd | undefined;
  /** Transfers that were asked for. */
  readonly asked: TransferAsked[] = [];

  established(): void {
    this.events.push('established');
  }

  ended(end: SessionEnd): void {
    this.end = end;
    this.events.push(`ended ${end.by}`);
  }

  digit(digit: string, durationMs: number): void {
    this.events.push(`digit ${digit} ${durationMs}`);
  }

  transferAsked(asked: TransferAsked): void {
    this.asked.push(asked);
    this.events.push(`transfer ${asked.target.text}`);
  }
}

interface End {
  readonly agent: UserAgent;
  readonly layer: TransactionLayer;
  readonly sender: DirectSender;
}

interface EndsOptions {
  readonly called?: Partial<UserAgentOptions>;
  readonly calling?: Partial<UserAgentOptions>;
  readonly seed?: number;
}

export class TwoEnds {
  readonly network = new Network();
  readonly called: End;
  readonly calling: End;
  /** The calls that came in. */
  readonly invited: InboundSession[] = [];
  /** Handles each incoming session. Default: accept at once. */
  act: (session: InboundSession) => void = (session) => void this.accept(session);
  readonly #options: EndsOptions;
  #calls = 0;

  constructor(options: EndsOptions = {}) {
    this.#options = options;
    this.called = this.#end(CALLEE, {
      invited: (session) => {
        this.invited.push(session);
        this.act(session);
      },
      ...options.called,
    });
    this.calling = this.#end(CALLER, { ...options.calling });
  }

  accept(session: InboundSession, media = new NegotiatedMedia(CALLEE, 7)): SeenEvents {
    const seen = new SeenEvents();
    const result = session.accept(media, seen);
    assert.equal(result.refusal, undefined);
    return seen;
  }

  /** An INVITE with an offer, unless it is to come late; `headers` are further ones. */
  call(options: Partial<CallOptions> = {}): Calling {
    const callId = `call${++this.#calls}`;
    return new Calling(this.calling, { callId, ...options });
  }

  /** Lets time pass until nothing is under way any more, within a bound. */
  async settle(ms = 40_000): Promise<void> {
    await this.network.pass(ms, 100);
  }

  get all(): readonly End[] {
    return [this.called, this.calling];
  }

  #end(address: string, more: Partial<UserAgentOptions>): End {
    const random = seeded((this.#options.seed ?? 1) + address.length);
    const agent = new UserAgent({
      time: this.network.time,
      token: () => `${Math.floor(random() * 2 ** 32).toString(36)}`,
      randomInt: (below) => Math.floor(random() * below),
      product: '',
      sessionSeconds: 1800,
      leastSeconds: 90,
      admission: { admits: (): Refusal | undefined => undefined },
      invited: (session) => session.reject(603),
      contactFor: () => `<sip:${address}>`,
      ...more,
    });
    const layer = this.network.layer(address, agent);
    const sender = new DirectSender(layer);
    agent.start(layer, sender);
    return { agent, layer, sender };
  }
}

interface CallOptions {
  readonly callId: string;
  readonly headers: readonly HeaderLine[];
  /** Asks the callee for the offer. */
  readonly late: boolean;
  readonly body: string;
  /** The answer to a late offer, sent in the ACK. Default: the media's answer. */
  readonly answers: (offer: Buffer) => string | undefined;
  /** Content type of that answer. Default: a session description. */
  readonly ackType: string;
}

/** A call out: its INVITE by hand, its dialog as any session has it. */
export class Calling {
  readonly seen = new SeenEvents();
  readonly media = new NegotiatedMedia(CALLER, 100);
  readonly responses: SipResponse[] = [];
  readonly failures: string[] = [];
  readonly callId: string;
  readonly invite: RequestData;
  readonly transaction: ClientTransaction;
  readonly #answers: CallOptions['answers'];
  readonly #end: End;
  readonly #late: boolean;
  readonly #ackType: string;
  #inDialog: InDialog | undefined;

  constructor(end: End, options: Partial<CallOptions> & Pick<CallOptions, 'callId'>) {
    this.#end = end;
    this.callId = options.callId;
    this.#late = options.late ?? false;
    this.#ackType = options.ackType ?? 'application/sdp';
    this.#answers = options.answers ?? ((offer) => this.media.answer(offer).value);
    const offer = options.body ?? (this.#late ? undefined : this.media.offer().value);
    const { headers = [] } = options;
    const isTyped = offer === undefined || headers.some(([name]) => name === 'Content-Type');
    const typed = isTyped ? headers : [...headers, ['Content-Type', 'application/sdp'] as const];
    this.invite = inviteOf(options.callId, typed, offer);
    this.transaction = end.layer.send(this.invite, TARGET, {
      response: (response) => this.#response(response),
      failed: ({ reason }) => this.failures.push(reason),
    });
  }

  get statuses(): number[] {
    return this.responses.map(({ status }) => status);
  }

  get inDialog(): InDialog {
    assert.ok(this.#inDialog, 'there is no dialog yet');
    return this.#inDialog;
  }

  /** A request within the dialog as it stands, by hand; resolves with its status. */
  async ask(method: string, headers: readonly HeaderLine[] = [], body?: string): Promise<SipResponse> {
    const outcome = await this.inDialog.channel.send(method, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    assert.ok('response' in outcome, 'no response came');
    return outcome.response;
  }

  #response(response: SipResponse): void {
    const { status } = response;
    this.responses.push(response);
    if (status > 100 && status < 300) this.#inDialog ??= this.#open(response);
    if (status >= 300) this.#inDialog?.end({ by: 'rejected', status });
    if (status < 200 || status >= 300) return;
    if (!this.inDialog.accepted(response, () => this.#answer(response))) return;
    this.seen.established();
  }

  #answer(response: SipResponse) {
    const description = descriptionIn(response);
    const answer = description === undefined || !this.#late ? undefined : this.#answers(description);
    if (!this.#late && description !== undefined) this.media.accept(description);
    if (answer === undefined) return { headers: [] };
    return { headers: [['Content-Type', this.#ackType]] as const, body: answer };
  }

  #open(response: SipResponse): InDialog {
    const { callId, from, to } = response;
    assert.ok(from && to);
    const own = {
      callId,
      tag: from.tag ?? '',
      from: response.first('from') ?? '',
      to: `<${to.uri.text}>`,
      uri: to.uri,
    };
    const dialog = Dialog.ofClient(response, own);
    const inDialog = new InDialog({
      dialog,
      journey: {},
      contact: `<sip:${CALLER}>`,
      media: this.media,
      user: () => this.seen,
      context: this.#end.agent.context,
      session: this.#session(),
      calling: true,
      over: (end) => this.seen.ended(end),
    });
    inDialog.channel.peer.note(response);
    return inDialog;
  }

  /** The part of a session that the table of dialogs uses. */
  #session(): Session {
    return {
      state: 'confirmed',
      dialog: undefined,
      user: this.seen,
      hangUp: (reason) => this.inDialog.hangUp(reason),
      reoffer: () => this.inDialog.reoffer(),
      sendDigit: (digit, durationMs) => this.inDialog.sendDigit(digit, durationMs),
      refer: (target, seen) => this.inDialog.refer(target, seen),
    };
  }
}

export function inviteOf(callId: string, headers: readonly HeaderLine[], body?: string): RequestData {
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  const usual: HeaderLine[] = [
    ['From', `<sip:alice@${CALLER}>;tag=from-${callId}`],
    ['To', `<sip:bob@${CALLEE}>`],
    ['Call-ID', callId],
    ['CSeq', '1 INVITE'],
    ['Contact', `<sip:${CALLER}>`],
    ALLOW,
    SUPPORTED,
  ];
  return {
    method: 'INVITE',
    uri: `sip:bob@${CALLEE}`,
    headers: [...usual.filter(([name]) => !own.has(name.toLowerCase())), ...headers],
    ...(body === undefined ? {} : { body }),
  };
}

export function requestsTo(network: Network, from: string, method: string): string[] {
  return network.carried
    .filter((one) => one.from === from && one.text.startsWith(`${method} `))
    .map(({ text }) => text);
}

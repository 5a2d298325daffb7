// Handles incoming calls: routes them, answers or refuses them, and speaks once the caller has acknowledged
// the answer.
import { callClients } from '../../src/call/client-limits.js';
import type { MediaPort } from '../../src/call/call-route.js';
import type { TextRequest } from '../../src/speaking/speech-request.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import type { BridgeRequest } from '../../src/call/bridges.js';
import type { ProgramSource } from '../../src/config/ivr-config.js';
import { asParleyError, tellDefect } from '../../src/errors.js';
import { callerIdentity, shownHeaders } from '../message/caller-identity.js';
import { pathOf } from '../message/history-info.js';
import { type Refusal, refusal } from '../message/refusal.js';
import type { CallMedia } from '../media/call-media.js';
import { InboundSession } from '../session/inbound-session.js';
import type { SessionUser } from '../session/session.js';
import type { MediaRequest } from '../trunk/outbound-calls.js';
import type { SipAdmission } from './sip-admission.js';
import type { Answer, Answering, Spoken } from './answering.js';
import { BridgedCaller, refusalFor } from './bridged-caller.js';
import type { IncomingCall, IncomingDecision } from './incoming-decision.js';
import { Pattern } from '../routing-table.js';
import { PhoneCall, type PhoneCallParts } from './phone-call.js';
import type { PhoneBook } from './phone-book.js';
import type { PhoneCallInfo } from './call-view.js';
import { Prelude } from './greeting.js';

interface InboundCallsParts extends PhoneCallParts {
  readonly answering: Answering;
  /** Asks the application first; absent: the rules decide alone. */
  readonly decision?: Pick<IncomingDecision, 'of'> | undefined;
  readonly switchboard: Pick<Switchboard, 'open' | 'check' | 'newId'>;
  readonly book: PhoneBook;
  /**
   * Opens the media of a call whose signalling uses this local address. Throws CALL_LIMIT if no port is free.
   */
  readonly openMedia: (localAddress: string, request?: Partial<MediaRequest>) => CallMedia;
  /** Requirements for the media of an incoming call: its trunk may override the server's. */
  readonly mediaRequest: (session: InboundSession) => Partial<MediaRequest>;
  /** Called with every new call. */
  readonly opened: (call: PhoneCall) => void;
  readonly admission: Pick<SipAdmission, 'mayReplace' | 'trusts'>;
  /** Patterns of the header fields that applications may see; none if absent. */
  readonly callHeaders?: readonly string[];
}

export class InboundCalls {
  readonly #parts: InboundCallsParts;
  readonly #shown: readonly Pattern[];

  constructor(parts: InboundCallsParts) {
    this.#parts = parts;
    this.#shown = (parts.callHeaders ?? []).map((pattern) => new Pattern(pattern));
  }

  /** Takes an admitted INVITE. After an unexpected error it refuses the call and throws. */
  invited(session: InboundSession): void {
    try {
      this.#route(session);
    } catch (error) {
      session.reject(500);
      throw error;
    }
  }

  #route(session: InboundSession): void {
    const { replaces } = session;
    if (replaces !== undefined) return this.#replace(session, replaces);
    const { decision, answering } = this.#parts;
    if (decision === undefined) return this.#answer(session, answering.to(session.request));
    const id = this.#parts.switchboard.newId('sip');
    void decision.of(this.#incoming(id, session)).then((route) => {
      if (session.state === 'ended') return; // the caller has given up
      try {
        const { request } = session;
        const answer = route === undefined ? answering.to(request) : answering.by(route, request);
        this.#answer(session, answer, id);
      } catch (error) {
        session.reject(500);
        tellDefect(error);
      }
    });
  }

  #incoming(id: string, session: InboundSession): IncomingCall {
    const { request } = session;
    const { from, to, displayName, headers } = this.#infoOf(id, session);
    const { route } = this.#parts.answering.to(request);
    return { id, callId: request.callId, from, to, displayName, headers, route };
  }

  /** `id` of the call; absent: a new one. */
  #answer(session: InboundSession, answer: Answer, id?: string): void {
    const { what, prelude } = answer;
    const early = prelude.early === undefined ? undefined : this.#unspeakable(prelude.early.speech);
    const unspeakable = what.refusal ?? early ?? this.#unspeakable(what.value.speech);
    if (
      unspeakable === undefined ||
      (what.refusal !== undefined && prelude.early !== undefined && early === undefined)
    ) {
      this.#take(session, answer, id);
    } else refuse(session, unspeakable);
  }

  /** Checks before the answer whether the text can be spoken. */
  #unspeakable(speech: TextRequest | undefined): Refusal | undefined {
    if (speech === undefined) return undefined;
    try {
      this.#parts.switchboard.check(speech.text, speech);
      return undefined;
    } catch (error) {
      const { code } = asParleyError(error, 'ENGINE_FAILED');
      const isTheirs = code !== 'ENGINE_FAILED' && code !== 'ENGINE_UNAVAILABLE';
      return isTheirs
        ? refusal(488, 'What is to be spoken cannot be')
        : refusal(503, 'Service Unavailable', [['Retry-After', '5']]);
    }
  }

  /** Takes a call from its INVITE on: it is answered, or refused, after its prelude. */
  #take(session: InboundSession, answer: Answer, id?: string): void {
    const { route, owner, prelude: plan, what } = answer;
    const { switchboard, book, openMedia, mediaRequest, opened, time } = this.#parts;
    let confirm: () => void = () => undefined;
    const confirmed = new Promise<void>((resolve) => (confirm = resolve));
    const makePort = (callId: string): Promise<MediaPort> => {
      const media = openMedia(session.flow.local.address, mediaRequest(session));
      media.onceConfirmed(confirm);
      const info = { ...this.#infoOf(callId, session), route, owner };
      const phone = new PhoneCall(info, this.#parts);
      phone.path = pathOf(session.request);
      book.add(phone);
      opened(phone);
      phone.carriedBy({ session, media });
      const caller = new BridgedCaller(phone, session, media);
      const over = (): void => {
        if (what.refusal !== undefined) refuse(session, what.refusal);
        else if (what.value.program !== undefined) this.#conduct(caller, what.value.program);
        else if (what.value.bridge === undefined) session.accept(media, session.user);
        else this.#bridge(caller, what.value.bridge, what.value.after);
      };
      if (what.refusal === undefined) beginTalk(phone, answer, what.value, caller);
      new Prelude({ plan, phone, session, media, time, over }).start();
      return phone.port;
    };
    const { address } = session.peer;
    // An allowed network belongs to a trunk or PBX with the calls of many clients.
    const clients = this.#parts.admission.trusts(address) ? [] : callClients(undefined, address);
    switchboard.open(makePort, { protocol: 'sip', id, clients, confirmed }).then(
      (call) => book.get(call.id).talks(call),
      (error: unknown) =>
        refuse(session, what.refusal ?? refusalFor(asParleyError(error, 'TRANSPORT_UNSUPPORTED'))),
    );
  }

  /** The far end of the bridge decides whether the caller is answered. */
  #bridge(caller: BridgedCaller, request: BridgeRequest, after: 'stay' | 'hangup'): void {
    const { joining } = this.#parts;
    if (joining === undefined) caller.refuse({ reason: 'failed', detail: 'calls are not joined' });
    else joining.ring(caller, request, after);
  }

  /** The program decides whether the caller is answered. */
  #conduct(caller: BridgedCaller, source: ProgramSource): void {
    const { programs } = this.#parts;
    if (programs === undefined) caller.refuse({ reason: 'failed', detail: 'there are no call programs' });
    else programs.take(caller, source);
  }

  /** Another far end replaces the one of a call (RFC 3891): the conversation goes on with it. */
  #replace(session: InboundSession, replaced: NonNullable<InboundSession['replaces']>): void {
    const phone = this.#parts.book.carriedBy(replaced);
    const before = phone?.leg;
    if (phone === undefined || before === undefined)
      return refuse(session, refusal(481, 'Call/Transaction Does Not Exist'));
    const began = replaced instanceof InboundSession ? replaced : undefined;
    if (!this.#parts.admission.mayReplace(session.request, session.flow, began)) {
      return refuse(session, refusal(403, 'Forbidden'));
    }
    try {
      const media = this.#parts.openMedia(session.flow.local.address, this.#parts.mediaRequest(session));
      media.call = phone.info.id;
      media.onFailed = () => void session.hangUp();
      const { user } = before.session;
      before.session.user = QUIET; // accepting ends the replaced session, which is not the end of the call
      if (session.accept(media, session.user).refusal !== undefined) {
        before.session.user = user;
        return media.close();
      }
      phone.carriedBy({ session, media });
      void before.session.hangUp().finally(() => before.media.close());
    } catch (error) {
      refuse(session, refusalFor(asParleyError(error, 'TRANSPORT_UNSUPPORTED')));
    }
  }

  #infoOf(id: string, { request, peer }: InboundSession): PhoneCallInfo {
    const fields = {
      asserted: request.all('p-asserted-identity'),
      privacy: request.all('privacy'),
      remoteParty: request.all('remote-party-id'),
    };
    const trusted = this.#parts.admission.trusts(peer.address);
    const { displayName, uri, isPrivate } = callerIdentity(request.from, fields, trusted);
    const headers = shownHeaders(request.fields, this.#shown, trusted && !isPrivate);
    return {
      id,
      direction: 'inbound',
      to: request.uri.text,
      from: isPrivate || uri === undefined ? 'anonymous' : uri,
      displayName: isPrivate ? undefined : displayName,
      headers,
    };
  }
}

const QUIET: SessionUser = { established: () => undefined, ended: () => undefined };

/** Hears, records and speaks after the answer, and then hangs up, as far as the rule asks for it. */
function beginTalk(
  phone: PhoneCall,
  { listen, record, prelude }: Answer,
  { speech, agent, relay, join, bridge, program, after }: Spoken,
  caller: BridgedCaller,
) {
  const conductor = agent ?? relay;
  const { early } = prelude;
  const isBegun = early !== undefined && !early.whole;
  phone.onceTalking((call) => {
    if (listen !== undefined) phone.listenIfPossible(listen);
    if (record !== undefined) phone.record(record); // its announcement comes before the text
    if (!isBegun && speech !== undefined) phone.speak(speech.text, speech);
    if (conductor !== undefined) phone.conductedBy(conductor);
    if (bridge !== undefined || program !== undefined) caller.talks(call);
    else if (join !== undefined) phone.joinedBy(join, after);
    else if (after === 'hangup') void call.spoken().then(() => phone.end({ reason: 'we hung up' }));
  });
}

/** Has no effect after an answer. */
function refuse(session: InboundSession, { status, headers }: Refusal): void {
  session.reject(status, { headers });
}

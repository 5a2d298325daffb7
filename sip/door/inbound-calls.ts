// Calls that come in: routed, answered or refused, spoken to once the caller
// has acknowledged the answer.
import type { MediaPort } from '../../src/call/call.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import { asParleyError, type ParleyError } from '../../src/errors.js';
import { callerIdentity } from '../headers/caller-identity.js';
import { type Refusal, refusal } from '../message/refusal.js';
import type { CallMedia } from '../media/call-media.js';
import type { InboundSession } from '../session/inbound-session.js';
import type { Answering, Spoken } from './answering.js';
import { PhoneCall, type PhoneCallInfo, type PhoneCallParts } from './phone-call.js';
import type { PhoneBook } from './phone-book.js';

export interface InboundCallsParts extends PhoneCallParts {
  readonly answering: Answering;
  readonly switchboard: Pick<Switchboard, 'open' | 'check'>;
  readonly book: PhoneBook;
  /** For a call whose signalling is at this address of ours. CALL_LIMIT where no port is free. */
  readonly openMedia: (localAddress: string) => CallMedia;
  /** What every new call is given besides. */
  readonly opened: (call: PhoneCall) => void;
}

export class InboundCalls {
  readonly #parts: InboundCallsParts;

  constructor(parts: InboundCallsParts) {
    this.#parts = parts;
  }

  /** A new INVITE that was let in. */
  invited(session: InboundSession): void {
    const { replaces } = session;
    if (replaces !== undefined) return this.#replace(session, replaces);
    const { route, what } = this.#parts.answering.to(session.request);
    const unspeakable = what.refusal ?? this.#unspeakable(what.value);
    if (unspeakable !== undefined) return refuse(session, unspeakable);
    this.#answer(session, route, what.value as Spoken);
  }

  /** A text that cannot be spoken is known before the call is answered. */
  #unspeakable({ speech }: Spoken): Refusal | undefined {
    try {
      this.#parts.switchboard.check(speech.text, speech);
      return undefined;
    } catch (error) {
      const { code } = asParleyError(error, 'ENGINE_FAILED');
      const isTheirs = code !== 'ENGINE_FAILED' && code !== 'ENGINE_UNAVAILABLE';
      return isTheirs ? refusal(488, 'What is to be spoken cannot be') : refusal(503, 'Service Unavailable', [['Retry-After', '5']]); // prettier-ignore
    }
  }

  #answer(session: InboundSession, route: string, { speech, after }: Spoken): void {
    const { switchboard, book, openMedia, opened } = this.#parts;
    const makePort = (id: string): Promise<MediaPort> => {
      const media = openMedia(session.flow.local.address);
      const phone = new PhoneCall({ ...infoOf(id, session), route }, this.#parts);
      book.add(phone);
      opened(phone);
      phone.carriedBy({ session, media });
      phone.onceTalking((call) => {
        phone.speak(speech.text, speech);
        if (after === 'hangup') void call.spoken().then(() => phone.end({ reason: 'we hung up' }));
      });
      session.accept(media, session.user);
      return phone.port;
    };
    switchboard.open(makePort, { door: 'sip' }).then(
      (call) => book.get(call.id).talks(call),
      (error: unknown) => refuse(session, refusalFor(asParleyError(error, 'TRANSPORT_UNSUPPORTED'))),
    );
  }

  /** Another far end takes the place of that of a call (RFC 3891): the conversation goes on with it. */
  #replace(session: InboundSession, replaced: NonNullable<InboundSession['replaces']>): void {
    const phone = this.#parts.book.carriedBy(replaced);
    const before = phone?.leg;
    if (phone === undefined || before === undefined) return refuse(session, refusal(481, 'Call/Transaction Does Not Exist')); // prettier-ignore
    try {
      const media = this.#parts.openMedia(session.flow.local.address);
      const { user } = before.session;
      before.session.user = { established: () => undefined, ended: () => undefined }; // it ends with the answer to this call
      if (session.accept(media, session.user).refusal !== undefined) {
        before.session.user = user;
        media.close();
        return;
      }
      phone.carriedBy({ session, media });
      void before.session.hangUp().finally(() => before.media.close());
    } catch (error) {
      refuse(session, refusalFor(asParleyError(error, 'TRANSPORT_UNSUPPORTED')));
    }
  }
}

/** Nothing, where it was answered before. */
function refuse(session: InboundSession, { status, headers }: Refusal): void {
  session.reject(status, { headers });
}

function infoOf(id: string, { request }: InboundSession): PhoneCallInfo {
  const fields = { asserted: request.all('p-asserted-identity'), privacy: request.all('privacy') };
  const { displayName, caller } = callerIdentity(request.from, fields, true);
  return {
    id,
    direction: 'inbound',
    to: request.uri.text,
    from: caller === undefined ? 'anonymous' : request.from.uri.text,
    ...(displayName === undefined ? {} : { displayName }),
  };
}

function refusalFor({ code, retryAfterSeconds = 5 }: ParleyError): Refusal {
  const later = [['Retry-After', String(retryAfterSeconds)]] as const;
  if (code === 'CALL_LIMIT' || code === 'CALL_CLOSED') return refusal(503, 'Service Unavailable', later);
  return refusal(500, 'Server Internal Error');
}

// The caller's side of a call that is not answered yet, for the bridge or the program of its rule. Its INVITE
// is answered when the far end of the bridge answers, or when the program speaks. Until then the caller hears
// ringing (180) or the sound of the far end (183, RFC 3960). A refusal becomes the final response to the
// INVITE.
import type { Call } from '../../src/call/call.js';
import type { RingingCaller } from '../../src/call/bridges.js';
import type { HandledCall } from '../../src/call/call-handler.js';
import type { CallAbout, ProgramCaller } from '../../src/call/call-programs.js';
import type { CallPath, PhoneCallEnd } from '../../src/call/phone-calls.js';
import { ParleyError } from '../../src/errors.js';
import type { CallMedia } from '../media/call-media.js';
import { type Refusal, reasonPhrase, refusal, writeReason } from '../message/refusal.js';
import type { InboundSession } from '../session/inbound-session.js';
import type { PhoneCall } from './phone-call.js';

export class BridgedCaller implements RingingCaller, ProgramCaller {
  readonly #phone: PhoneCall;
  readonly #session: InboundSession;
  readonly #media: CallMedia;
  #talking: ((handled: HandledCall) => void) | undefined;

  constructor(phone: PhoneCall, session: InboundSession, media: CallMedia) {
    this.#phone = phone;
    this.#session = session;
    this.#media = media;
  }

  get id(): string {
    return this.#phone.info.id;
  }

  get about(): CallAbout {
    const { id, owner, direction, from, to, displayName, headers, route } = this.#phone.info;
    const { callId } = this.#session.request;
    return {
      id,
      owner,
      protocol: 'sip',
      direction,
      from,
      to,
      displayName,
      headers,
      route,
      callId,
      path: this.path,
    };
  }

  get path(): CallPath | undefined {
    return this.#phone.path;
  }

  get over(): Promise<unknown> {
    return this.#phone.over;
  }

  /** A caller that hears early media already gets no 180, which would stop it. */
  ring(): void {
    if (this.#media.port === undefined) this.#session.ring({ reliably: true });
  }

  openEarly(): void {
    if (this.#media.port === undefined) this.#session.progress(this.#media);
  }

  answer(): void {
    this.#session.accept(this.#media, this.#session.user);
  }

  onceAudible(action: (handled: HandledCall) => void): void {
    this.#phone.onceAudible((call) => action(this.#phone.handled(call)));
  }

  onceTalking(action: (handled: HandledCall) => void): void {
    this.#talking = action;
  }

  /** Its call is answered and can speak. */
  talks(call: Call): void {
    this.#talking?.(this.#phone.handled(call));
  }

  refuse(why: PhoneCallEnd | ParleyError): void {
    if (this.#session.state === 'confirmed') return void this.#phone.end({ reason: 'we hung up' });
    const { status, headers } = why instanceof ParleyError ? refusalFor(why) : refusalOf(why);
    this.#session.reject(status, { headers });
  }
}

const LATER_SECONDS = 5;

function unavailable(retryAfterSeconds = LATER_SECONDS): Refusal {
  return refusal(503, 'Service Unavailable', [['Retry-After', String(retryAfterSeconds)]]);
}

/** The refusal of a call that this server cannot take, or cannot place for it. */
export function refusalFor({ code, field, retryAfterSeconds }: ParleyError): Refusal {
  switch (code) {
    case 'CALL_LIMIT':
    case 'CALL_CLOSED':
    case 'RATE_LIMITED':
    case 'ENGINE_UNAVAILABLE':
      return unavailable(retryAfterSeconds);
    case 'CLIENT_LIMIT':
      return refusal(480, 'Temporarily Unavailable', [
        ['Retry-After', String(retryAfterSeconds ?? LATER_SECONDS)],
      ]);
    case 'FORBIDDEN':
      return refusal(403, 'Forbidden');
    case 'CALL_LOOP':
      return refusal(482, 'Loop Detected');
    case 'CALL_STATE':
      return refusal(488, 'Not Acceptable Here');
    case 'INVALID_FIELD':
    case 'NOT_FOUND':
      return field === 'to' || field === 'trunk'
        ? refusal(404, 'Not Found')
        : refusal(500, 'Server Internal Error');
    default:
      return refusal(500, 'Server Internal Error');
  }
}

/**
 * Statuses that mean the same to the caller as to us. Others are about our own request: its credentials, its
 * offer, its extensions.
 */
const PASSED_ON: ReadonlySet<number> = new Set([
  403, 404, 410, 480, 482, 483, 484, 485, 486, 600, 603, 604, 607, 608,
]);

/** As a proxy does with 5xx (RFC 3261, section 16.7): a 503 of the far end is not ours. */
function statusOf({ reason, status = 0 }: PhoneCallEnd): number {
  if (reason === 'no answer') return 480;
  if (reason === 'failed') return 502; // it could not be reached, whatever status stands for that
  if (PASSED_ON.has(status)) return status;
  if (status === 504) return 504;
  if (status >= 500 && status < 600) return 500;
  if (status >= 600) return 603;
  return 480;
}

/** The final response for a caller whose far end has not answered. */
function refusalOf(end: PhoneCallEnd): Refusal {
  if (end.reason === 'server closing') return unavailable();
  const status = statusOf(end);
  const cause = end.cause ?? (end.reason === 'no answer' ? NO_ANSWER : undefined);
  const reason =
    cause === undefined
      ? []
      : [['Reason', writeReason({ protocol: 'q.850', cause, text: undefined })] as const];
  return refusal(status, reasonPhrase(status), reason);
}

const NO_ANSWER = 19; // Q.850

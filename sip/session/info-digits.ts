// Sends and receives digits in INFO (legacy use of RFC 6086): Cisco's application/dtmf-relay and plain
// application/dtmf. Digits are sent one at a time, because a late retransmission would be refused as
// out of order (RFC 3261, section 12.2.2).
import type { SipRequest } from '../message/message.js';
import { refusal, refused, type Result } from '../message/refusal.js';
import type { ServerTransaction } from '../transaction/server-transaction.js';
import type { DialogContext } from './dialog-context.js';
import { statusOf } from './session-context.js';

const MOST_WAITING = 64;
const TYPES: readonly DtmfInfoType[] = ['application/dtmf-relay', 'application/dtmf'];

export class InfoDigits {
  readonly #life: DialogContext;
  #type: DtmfInfoType = 'application/dtmf-relay';
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(life: DialogContext) {
    this.#life = life;
  }

  received(request: SipRequest, transaction: ServerTransaction): void {
    const { channel, user } = this.#life;
    if (request.first('info-package') !== undefined) {
      // Info packages are negotiated by Recv-Info (RFC 6086, section 4.2.2); none is supported.
      channel.context.refuse(transaction, refusal(469, 'Bad Info Package', [['Recv-Info', '']]));
      return;
    }
    if (request.body.length === 0) {
      channel.context.respond(transaction, { status: 200 });
      return;
    }
    const read = readDtmfInfo(request.contentType?.name, request.body);
    if (read === undefined) {
      channel.context.refuse(
        transaction,
        refusal(415, 'Unsupported Media Type', [['Accept', TYPES.join(', ')]]),
      );
    } else if (read.refusal !== undefined) channel.context.refuse(transaction, read.refusal);
    else {
      channel.context.respond(transaction, { status: 200 });
      user.digit?.(read.value.digit, read.value.durationMs);
    }
  }

  /** False if the peer refused the digit, the call has ended, or too many wait already. */
  async send(digit: string, durationMs: number): Promise<boolean> {
    if (this.#waiting >= MOST_WAITING) return false;
    this.#waiting++;
    const sent = this.#last.then(() => this.#send(digit, durationMs));
    this.#last = sent;
    const taken = await sent;
    this.#waiting--;
    return taken;
  }

  async #send(digit: string, durationMs: number): Promise<boolean> {
    const status = await this.#sendAs(this.#type, digit, durationMs);
    if (status !== 415 || this.#type !== 'application/dtmf-relay') return isTaken(status);
    this.#type = 'application/dtmf';
    return isTaken(await this.#sendAs(this.#type, digit, durationMs));
  }

  async #sendAs(type: DtmfInfoType, digit: string, durationMs: number): Promise<number> {
    const body = writeDtmfInfo({ digit, durationMs }, type);
    if (body === undefined || this.#life.ended) return 0;
    return statusOf(await this.#life.channel.send('INFO', { headers: [['Content-Type', type]], body }));
  }
}

function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}

export type DtmfInfoType = 'application/dtmf-relay' | 'application/dtmf';

interface DtmfInfo {
  /** One of 0-9, *, #, A-D; `!` for a flash. */
  readonly digit: string;
  readonly durationMs: number;
}

const LONGEST_BODY = 256;
const USUAL_MS = 160;
const LEAST_MS = 40;
const MOST_MS = 10_000;

/** Digits by event number (RFC 4733, section 3.2), which some peers send instead. */
const BY_NUMBER = '0123456789*#ABCD!';

/** Undefined for another content type; 400 for a body that holds no digit. */
export function readDtmfInfo(
  contentType: string | undefined,
  body: string | Uint8Array,
): Result<DtmfInfo> | undefined {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/dtmf-relay' && type !== 'application/dtmf') return undefined;
  const text =
    body.length > LONGEST_BODY ? '' : typeof body === 'string' ? body : Buffer.from(body).toString('latin1');
  // Some peers mix the two formats.
  const signal = /^\s*Signal\s*=\s*(\S+)\s*$/im.exec(text)?.[1] ?? /^\s*(\S{1,2})\s*$/.exec(text)?.[1];
  const digit = signal === undefined ? undefined : digitOf(signal);
  if (digit === undefined) return refused(400, 'the body of the INFO holds no digit');
  const written = Number(/^\s*Duration\s*=\s*(\d{1,6})\s*$/im.exec(text)?.[1] ?? USUAL_MS);
  return { value: { digit, durationMs: Math.min(Math.max(written, LEAST_MS), MOST_MS) } };
}

function digitOf(signal: string): string | undefined {
  if (/^[0-9*#A-D!]$/i.test(signal)) return signal.toUpperCase();
  if (/^(?:hf|flash)$/i.test(signal)) return '!';
  return /^1[0-6]$/.test(signal) ? BY_NUMBER[Number(signal)] : undefined;
}

/** Undefined if the text is not an digit of a telephone. */
export function writeDtmfInfo({ digit, durationMs }: DtmfInfo, type: DtmfInfoType): string | undefined {
  const known = /^[0-9*#A-D!]$/i.test(digit) ? digit.toUpperCase() : undefined;
  if (known === undefined) return undefined;
  if (type === 'application/dtmf') return known;
  return `Signal=${known === '!' ? 'hf' : known}\r\nDuration=${Math.round(Math.min(Math.max(durationMs, LEAST_MS), MOST_MS))}\r\n`;
}

// Digits in INFO requests (RFC 6086's legacy use): Cisco's
// application/dtmf-relay and the bare application/dtmf.
import { refused, type Result } from './message/refusal.js';

export type DtmfInfoType = 'application/dtmf-relay' | 'application/dtmf';

export interface DtmfInfo {
  /** One of 0-9, *, #, A-D; `!` for a flash. */
  readonly digit: string;
  readonly durationMs: number;
}

const LONGEST_BODY = 256;
const USUAL_MS = 160;
const LEAST_MS = 40;
const MOST_MS = 10_000;

/** By event numbers (RFC 4733 section 3.2), which some write instead of the character. */
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
  // Some write the fields of the one under the name of the other.
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

// Feeds all captures of a telephone server with its messages and the media of their calls.
//
//   messages ─▶ secrets blanked ─┬─▶ collector (HEP)
//                                └─▶ file of the call ◀─ copies of its media
import type { Flow } from '../transport/flow.js';
import type { CallCaptures } from './call-captures.js';
import type { HepSender } from './hep-sender.js';
import { callIdIn, type CapturedMedia, type MessageTap, type TapDirection } from './taps.js';

interface CallTapsParts {
  readonly collector: HepSender | undefined;
  readonly files: CallCaptures | undefined;
  /** Files contain media. */
  readonly rtp: boolean;
  /** Copies keep keys and password proofs. */
  readonly keys: boolean;
}

export interface TapCounts {
  readonly collector: HepSender['counts'] | undefined;
  readonly files: CallCaptures['counts'] | undefined;
}

export class CallTaps implements MessageTap {
  readonly #parts: CallTapsParts;
  readonly #callIds = new Map<CapturedMedia, string>();
  #closed: Promise<void> | undefined;

  /** Owns its parts and closes them. */
  constructor(parts: CallTapsParts) {
    this.#parts = parts;
  }

  get counts(): TapCounts {
    return { collector: this.#parts.collector?.counts, files: this.#parts.files?.counts };
  }

  message(direction: TapDirection, bytes: Buffer, flow: Flow, callId = callIdIn(bytes)): void {
    const { keys, collector, files } = this.#parts;
    const shown = keys ? bytes : blankedSecrets(bytes);
    collector?.message(direction, shown, flow, callId);
    files?.message(direction, shown, flow, callId);
  }

  /** Assigns media to a call, until the media closes or is assigned to another one. */
  carries(callId: string, media: CapturedMedia): void {
    const before = this.#callIds.get(media);
    if (before === callId) return;
    const { files, rtp } = this.#parts;
    if (before !== undefined) files?.leave(before, media);
    this.#callIds.set(media, callId);
    if (rtp) files?.follow(callId, media);
    media.onClosing = () => this.#closing(media);
  }

  /** Resolves when every file is written. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #closing(media: CapturedMedia): void {
    const callId = this.#callIds.get(media);
    if (callId === undefined) return;
    this.#callIds.delete(media);
    const { files, collector } = this.#parts;
    files?.leave(callId, media);
    files?.ended(callId);
    const { quality } = media;
    if (quality !== undefined) collector?.report(callId, quality.local, quality.remote, quality.report);
  }

  async #close(): Promise<void> {
    this.#callIds.clear();
    await Promise.all([this.#parts.files?.close(), this.#parts.collector?.close()]);
  }
}

const BLANK = '*';
const MAY_HAVE_SOME = /inline:|\nk=|authorization|authentication-info/i;

/** In each match, `keep` precedes the secret. */
const SECRETS: readonly RegExp[] = [
  /(?<keep>\binline:)(?<secret>[^\s|;]+)/gi, // RFC 4568, section 6.1
  /(?<keep>(?:^|\n)k=)(?<secret>[^\r\n]+)/g, // RFC 4566, section 5.12
  // Basic and its kin.
  /(?<keep>\n(?:proxy-)?authorization[ \t]*:[ \t]*(?!digest\b)[\w-]+[ \t]+)(?<secret>[^\r\n]+)/gi,
];
const PROOF_LINE = /\n(?:(?:proxy-)?authorization|(?:proxy-)?authentication-info)[ \t]*:(?:[^\n]|\n[ \t])*/gi;
const PROOF = /(?<keep>\b(?:response|rspauth)[ \t]*=[ \t\r\n]*")(?<secret>[^"]*)/gi;

/**
 * Blanks media keys and password proofs in a copy of a message. Lengths stay the same, so that
 * Content-Length stays correct. Returns the same bytes if there is nothing to blank.
 */
export function blankedSecrets(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  if (!MAY_HAVE_SOME.test(text)) return bytes;
  const blanked = SECRETS.reduce(blank, text).replace(PROOF_LINE, (line) => blank(line, PROOF));
  return blanked === text ? bytes : Buffer.from(blanked, 'latin1');
}

function blank(text: string, secret: RegExp): string {
  return text.replace(secret, (_, keep: string, found: string) => keep + BLANK.repeat(found.length));
}

// One of the dialogs that an INVITE of ours may make: it goes to one place and
// may ring in several (RFC 3261, section 13.2.2), each of which is acknowledged,
// and answers our offer, by itself.
import { refused, type Result } from '../message/refusal.js';
import { wholeNumber } from '../message/scanner.js';
import type { SipResponse } from '../message/message.js';
import { optionTags } from './capabilities.js';
import type { RequestContent } from './dialog-channel.js';
import type { InDialog } from './in-dialog.js';
import { descriptionIn, withDescription } from '../message/body.js';
import type { SessionMedia } from './session.js';

export class Fork {
  readonly inDialog: InDialog;
  readonly #media: SessionMedia;
  /** Whether the INVITE came without an offer. */
  readonly #late: boolean;
  #lastRSeq: number | undefined;
  /** Of an answer in a response that may be lost, the next one may say something else. */
  #agreed: 'no' | 'for now' | 'yes' = 'no';

  constructor(inDialog: InDialog, media: SessionMedia, late: boolean) {
    this.inDialog = inDialog;
    this.#media = media;
    this.#late = late;
  }

  /** 101-199. False for one that came before, or before its turn (RFC 3262, section 4); refused where the media cannot follow. */
  provisional(response: SipResponse): Result<boolean> {
    this.inDialog.channel.peer.note(response);
    this.#heard(response);
    const rseq = rseqOf(response);
    if (rseq === undefined) {
      if (!this.#late) this.#answered(response, 'for now');
      return { value: true };
    }
    if (this.#lastRSeq !== undefined && rseq !== this.#lastRSeq + 1) return { value: false };
    this.#lastRSeq = rseq;
    this.inDialog.dialog.refresh(response);
    const result = this.#late ? this.#offered(response) : this.#answered(response, 'yes');
    void this.#acknowledge(rseq, response, result.value);
    return result.refusal === undefined ? { value: true } : result;
  }

  /** The first 2xx: what to acknowledge it with, or why the call cannot go on. */
  accepted(response: SipResponse): Result<RequestContent> {
    this.#heard(response);
    const result = this.#late ? this.#offered(response) : this.#answered(response, 'yes');
    if (result.refusal !== undefined) return result;
    if (this.#agreed === 'no') return refused(488, 'the call was answered without a session description');
    return { value: withDescription(result.value) };
  }

  /** A response to our INVITE: only whoever got that can make one. */
  #heard({ source }: SipResponse): void {
    this.#media.confirmed();
    if (source !== undefined) this.#media.signalledFrom(source.address);
  }

  /** An answer to our offer, if there is one. */
  #answered(response: SipResponse, agreed: 'for now' | 'yes'): Result<string | undefined> {
    const answer = descriptionIn(response);
    if (answer === undefined || this.#agreed === 'yes') return { value: undefined };
    const result = this.#media.accept(answer, this.inDialog.dialog.remoteTag);
    if (result.refusal !== undefined) return result;
    this.#agreed = agreed;
    return { value: undefined };
  }

  /** An offer of the peer, if there is one, and our answer. */
  #offered(response: SipResponse): Result<string | undefined> {
    const offer = descriptionIn(response);
    if (offer === undefined || this.#agreed === 'yes') return { value: undefined };
    const result = this.#media.answer(offer);
    if (result.refusal === undefined) this.#agreed = 'yes';
    return result;
  }

  async #acknowledge(rseq: number, { cseq }: SipResponse, answer: string | undefined): Promise<void> {
    const { headers, body } = withDescription(answer);
    const content = { headers: [['RAck', `${rseq} ${cseq.number} INVITE`] as const, ...headers] };
    // Where nobody answers a PRACK, its response comes again, or the INVITE fails; neither is for us to do.
    await this.inDialog.channel.send('PRACK', body === undefined ? content : { ...content, body });
  }
}

/** Undefined if the response is not a reliable one. */
function rseqOf(response: SipResponse): number | undefined {
  const isReliable = optionTags(response).includes('100rel') && response.first('rseq') !== undefined;
  return isReliable ? wholeNumber(response.first('rseq') ?? '', 2 ** 32 - 1) : undefined;
}

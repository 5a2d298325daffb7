// Handles one of the dialogs that our INVITE may create: a forked INVITE rings at several phones (RFC
// 3261, section 13.2.2), and each dialog acknowledges and answers the offer separately.
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
  /** True if our INVITE had no offer. */
  readonly #late: boolean;
  #lastRSeq: number | undefined;
  /** 'for now' after an unreliable response, whose answer a later one may change. */
  #agreed: 'no' | 'for now' | 'yes' = 'no';

  constructor(inDialog: InDialog, media: SessionMedia, late: boolean) {
    this.inDialog = inDialog;
    this.#media = media;
    this.#late = late;
  }

  /**
   * Handles 101-199. False for a repeated or out-of-order one (RFC 3262, section 4); refused if the media
   * cannot follow.
   */
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
    this.#media.acknowledged('PRACK'); // ours
    void this.#acknowledge(rseq, response, result.value);
    return result.refusal === undefined ? { value: true } : result;
  }

  /** Handles the first 2xx: returns the content of its ACK or the refusal that ends the call. */
  accepted(response: SipResponse): Result<RequestContent> {
    this.#heard(response);
    this.#media.acknowledged('ACK'); // ours
    const result = this.#late ? this.#offered(response) : this.#answered(response, 'yes');
    if (result.refusal !== undefined) return result;
    if (this.#agreed === 'no') return refused(488, 'the call was answered without a session description');
    return { value: withDescription(result.value) };
  }

  /** A response to our INVITE shows that its sender received the INVITE. */
  #heard({ source }: SipResponse): void {
    this.#media.confirmed();
    if (source !== undefined) this.#media.signalledFrom(source.address);
  }

  /** Takes an answer to our offer, if there is one. */
  #answered(response: SipResponse, agreed: 'for now' | 'yes'): Result<string | undefined> {
    const answer = descriptionIn(response);
    if (answer === undefined || this.#agreed === 'yes') return { value: undefined };
    const result = this.#media.accept(answer, this.inDialog.dialog.remoteTag);
    if (result.refusal !== undefined) return result;
    this.#agreed = agreed;
    return { value: undefined };
  }

  /** Answers an offer of the peer, if there is one. */
  #offered(response: SipResponse): Result<string | undefined> {
    const offer = descriptionIn(response);
    if (offer === undefined || this.#agreed === 'yes') return { value: undefined };
    const result = this.#media.answer(offer);
    if (result.refusal === undefined) this.#agreed = 'yes';
    return result;
  }

  async #acknowledge(rseq: number, { cseq }: SipResponse, answer: string | undefined): Promise<void> {
    const { headers, body } = withDescription(answer);
    const acknowledged = ['RAck', `${rseq} ${cseq.number} INVITE`] as const;
    // Without an answer to PRACK the response is repeated or the INVITE fails; nothing to do here.
    await this.inDialog.channel.send('PRACK', { headers: [acknowledged, ...headers], body });
  }
}

/** Undefined if the response is not reliable. */
function rseqOf(response: SipResponse): number | undefined {
  const isReliable = optionTags(response).includes('100rel') && response.first('rseq') !== undefined;
  return isReliable ? wholeNumber(response.first('rseq') ?? '', 2 ** 32 - 1) : undefined;
}

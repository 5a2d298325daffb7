// DTLS-SRTP (RFC 5763, RFC 5764): the server's certificate, and one association with a far end, which proves
// the far end's identity and yields the keys of a call's media in both directions.
//
//   made ──start──▶ handshaking ──onKeys──▶ open ──onClosed──▶ over
//                        └──────onFailed──────┴──────────────▶ over
//
// The plane's DTLS thread does the handshake and the encryption. With ICE, datagrams pass between it and the
// socket (see MediaSocket.useDtls). Otherwise they come by `receive` and leave by `send`. The far end's
// certificate must match a fingerprint of the signalling; nothing else is trusted.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { type DtlsKeys, type DtlsNews, mediaAddon } from './media-addon.js';

/** Address that a datagram came from. */
export interface DatagramSource {
  readonly address: string;
  readonly port: number;
}

export interface AssociationOptions {
  readonly certificate: DtlsCertificate;
  /** `active` connects; `passive` waits for the far end to do so. */
  readonly role: 'active' | 'passive';
  /** Fingerprints of the far end's certificate: one of those with the best hash must match. */
  readonly fingerprints: readonly CertificateFingerprint[];
  readonly time: Time;
  /**
   * At most 1200 bytes; a datagram that is lost is sent again. `from` is the source of the datagram that it
   * answers, if `receive` stated it.
   */
  readonly send: (data: Uint8Array, from: DatagramSource | undefined) => void;
  /** At most once. */
  readonly onKeys: (keys: DtlsKeys) => void;
  /**
   * FINGERPRINT_MISMATCH, TIMEOUT, or DTLS_FAILED for everything else. At most once, also after `onKeys`, and
   * never after `onClosed`. `from` is the source of the datagram that caused it, if `receive` stated it.
   */
  readonly onFailed: (error: ParleyError, from: DatagramSource | undefined) => void;
  /** The far end said goodbye. */
  readonly onClosed: () => void;
  /** Application data, message by message; if absent, it is dropped. */
  readonly onData?: ((data: Uint8Array) => void) | undefined;
  /** All datagrams given to `receive` have been processed. */
  readonly onIdle?: (() => void) | undefined;
  /** One of the callbacks above threw. */
  readonly onDefect?: ((error: unknown) => void) | undefined;
  /** From `start` to the keys; 15 s unless said otherwise. */
  readonly limitMs?: number;
}

export const HANDSHAKE_LIMIT_MS = 15_000;
const RETRANSMIT_MS = 200; // the first; each further one after twice as long: a call has no second to lose
const ALERT_WAIT_MS = 2000; // above the interval at which an end repeats a flight
/** RFC 5246 section 7.2 and RFC 7507. */
const ALERT_NAMES: ReadonlyMap<number, string> = new Map([
  [40, 'handshake failure'],
  [42, 'bad certificate'],
  [43, 'unsupported certificate'],
  [46, 'certificate unknown'],
  [47, 'illegal parameter'],
  [50, 'decode error'],
  [51, 'decrypt error'],
  [70, 'protocol version'],
  [71, 'insufficient security'],
  [80, 'internal error'],
  [86, 'inappropriate fallback'],
]);

export class DtlsAssociation {
  readonly handle: number;
  readonly #options: AssociationOptions;
  readonly #onEnd: () => void;
  #started = false;
  #open = false;
  #over = false;
  /** Sources of the datagrams that wait to be processed, by the number of the datagram. */
  readonly #sources = new Map<number, DatagramSource | undefined>();
  /** The description of the last alert that came unprotected. */
  #alert: number | undefined;
  #alertWait = 0;
  #cancelAlert: (() => void) | undefined;
  #cancelLimit: (() => void) | undefined;

  /**
   * Made by MediaPlane.openDtls. Throws DTLS_FAILED where the certificate is closed, and CALL_LIMIT where the
   * plane has no room for another association.
   */
  constructor(plane: number, options: AssociationOptions, onEnd: () => void) {
    this.#options = options;
    this.#onEnd = onEnd;
    const handle = mediaAddon().dtlsOpen(plane, {
      certificate: options.certificate.handle,
      active: options.role === 'active',
      fingerprints: options.fingerprints.flatMap(({ hash, digest }) => [hash, digest]),
      retransmitMs: RETRANSMIT_MS,
      applicationData: options.onData !== undefined,
    });
    if (typeof handle === 'string') throw new ParleyError('DTLS_FAILED', handle);
    if (handle === 0) {
      throw new ParleyError(
        'CALL_LIMIT',
        'the media plane is closed or has all the DTLS associations it can take',
      );
    }
    this.handle = handle;
  }

  /** The far end is authenticated and there are keys. */
  get open(): boolean {
    return this.#open && !this.#over;
  }

  /** It failed, or one of the two ended it. */
  get over(): boolean {
    return this.#over;
  }

  /** A datagram given to `receive` has not been processed yet. */
  get busy(): boolean {
    return this.#sources.size > 0 && !this.#over;
  }

  /** Connects, or takes what the far end has sent. Idempotent. */
  start(): void {
    if (this.#started || this.#over) return;
    this.#started = true;
    mediaAddon().dtlsStart(this.handle);
    if (this.#open) return;
    const { time, limitMs = HANDSHAKE_LIMIT_MS } = this.#options;
    this.#cancelLimit = time.after(limitMs, () => this.#late());
  }

  /**
   * Takes a received datagram. Anything but DTLS of this association is ignored. Before the start, up to 16
   * datagrams of a handshake are kept.
   */
  receive(data: Uint8Array, from?: DatagramSource): void {
    if (this.#over) return;
    const number = mediaAddon().dtlsReceive(this.handle, data);
    if (number !== 0) this.#sources.set(number, from);
  }

  /** Sends one message of application data, at most 2048 bytes; false unless the association is open. */
  sendData(data: Uint8Array): boolean {
    return this.open && mediaAddon().dtlsSend(this.handle, data);
  }

  /** Sends close_notify if keys exist. No callback follows. Idempotent. */
  close(): void {
    this.#end();
  }

  /** The plane's: there is news. */
  tell(): void {
    const news = this.#over ? null : mediaAddon().dtlsTake(this.handle);
    if (news === null) return;
    try {
      this.#take(news);
    } catch (error) {
      this.#options.onDefect?.(error);
      throw error;
    }
  }

  #take(news: DtlsNews): void {
    this.#alert = news.alert ?? undefined;
    this.#awaitHandshake(news.alertWait);
    for (const { cause, data } of news.output) {
      if (!this.#over) this.#options.send(data, this.#sources.get(cause));
    }
    if (news.keys !== null) this.#opened(news.keys);
    for (const data of news.received) if (!this.#over) this.#options.onData?.(data);
    if (this.#over) return;
    if (news.state === 'failed') this.#fail(errorOf(news), this.#sources.get(news.endCause));
    else if (news.state === 'closed') this.#closedByPeer();
    else this.#forget(news.taken);
  }

  #forget(taken: number): void {
    const wasBusy = this.busy;
    for (const number of this.#sources.keys()) if (number <= taken) this.#sources.delete(number);
    if (wasBusy && !this.busy) this.#options.onIdle?.();
  }

  // Anybody can send an unprotected alert. It counts where the far end then says nothing more of its
  // handshake.
  #awaitHandshake(wait: number): void {
    if (wait === this.#alertWait) return;
    this.#alertWait = wait;
    this.#cancelAlert?.();
    this.#cancelAlert =
      wait === 0 || this.#open ? undefined : this.#options.time.after(ALERT_WAIT_MS, () => this.#alerted());
  }

  #alerted(): void {
    const name = ALERT_NAMES.get(this.#alert ?? 0) ?? 'of another kind';
    const alert = `alert ${this.#alert} (${name})`;
    this.#fail(new ParleyError('DTLS_FAILED', `the far end ended the DTLS handshake with ${alert}`));
  }

  #late(): void {
    this.tell(); // what the thread has done meanwhile
    if (this.#open || this.#over) return;
    const hint = this.#alert === undefined ? '' : `; an unprotected alert came, number ${this.#alert}`;
    this.#fail(new ParleyError('TIMEOUT', `the DTLS handshake did not end in time${hint}`));
  }

  #opened(keys: DtlsKeys): void {
    if (this.#over) return;
    this.#open = true;
    this.#cancelLimit?.();
    this.#cancelAlert?.();
    this.#options.onKeys(keys);
  }

  #closedByPeer(): void {
    // Its goodbye may come with the end of the handshake, in one datagram: too late for keys.
    const { onClosed, onFailed } = this.#options;
    const wasOpen = this.#open;
    this.#end();
    if (wasOpen) onClosed();
    else onFailed(new ParleyError('DTLS_FAILED', 'the far end ended the DTLS handshake'), undefined);
  }

  #fail(error: ParleyError, from?: DatagramSource): void {
    this.#end();
    this.#options.onFailed(error, from);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#sources.clear();
    this.#cancelLimit?.();
    this.#cancelAlert?.();
    for (const data of mediaAddon().dtlsClose(this.handle) ?? []) this.#options.send(data, undefined);
    this.#onEnd();
  }
}

function errorOf({ failure, reason }: DtlsNews): ParleyError {
  if (failure === 'fingerprint') {
    return new ParleyError(
      'FINGERPRINT_MISMATCH',
      'the certificate in the DTLS handshake has none of the fingerprints in the session description',
    );
  }
  return new ParleyError('DTLS_FAILED', `the DTLS handshake failed: ${reason}`);
}

/** Fingerprint as written in `a=fingerprint` (RFC 8122). */
export interface CertificateFingerprint {
  /** In small letters: `sha-256`, `sha-384` or `sha-512`; others never fit. */
  readonly hash: string;
  /** Hexadecimal pairs in capitals between colons. */
  readonly digest: string;
}

/**
 * The server's certificate on P-256. Each process makes a new one; only its fingerprint in the signalling
 * vouches for it.
 */
export class DtlsCertificate {
  readonly handle: number;
  readonly fingerprint: CertificateFingerprint;
  #closed = false;

  private constructor(handle: number, digest: string) {
    this.handle = handle;
    this.fingerprint = { hash: 'sha-256', digest };
  }

  /** Takes a millisecond or so. One is enough for all calls of a process. */
  static make(): DtlsCertificate {
    const handle = mediaAddon().identityMake();
    const digest = mediaAddon().identityFingerprint(handle);
    if (digest === null) throw new ParleyError('WRONG_STATE', 'the new certificate is gone');
    return new DtlsCertificate(handle, digest);
  }

  /** Open associations keep the identity; new ones are refused. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    mediaAddon().identityClose(this.handle);
  }
}

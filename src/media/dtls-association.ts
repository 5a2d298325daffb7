// DTLS-SRTP (RFC 5763, RFC 5764): the server's certificate, and one association with a far end, which proves
// the far end's identity and yields the keys of a call's media in both directions.
//
//   made ──start──▶ handshaking ──onKeys──▶ open ──onClosed──▶ over
//                        └──────onFailed──────┴──────────────▶ over
//
// The association has no socket: datagrams come by `receive` and leave by `send`. The far end's certificate
// must match a fingerprint of the signalling; nothing else is trusted.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { type DtlsKeys, type DtlsStep, mediaAddon } from './media-addon.js';
import { handshakeDatagram, hasHandshake, unprotectedAlert } from './dtls-record.js';

interface AssociationOptions {
  readonly certificate: DtlsCertificate;
  /** `active` connects; `passive` waits for the far end to do so. */
  readonly role: 'active' | 'passive';
  /** Fingerprints of the far end's certificate: one of those with the best hash must match. */
  readonly fingerprints: readonly CertificateFingerprint[];
  readonly time: Time;
  /** At most 1200 bytes; a datagram that is lost is sent again. */
  readonly send: (data: Uint8Array) => void;
  /** At most once. */
  readonly onKeys: (keys: DtlsKeys) => void;
  /**
   * FINGERPRINT_MISMATCH, TIMEOUT, or DTLS_FAILED for everything else. At most once, also after `onKeys`, and
   * never after `onClosed`.
   */
  readonly onFailed: (error: ParleyError) => void;
  /** The far end said goodbye. */
  readonly onClosed: () => void;
  /** Application data, message by message; if absent, it is dropped. */
  readonly onData?: ((data: Uint8Array) => void) | undefined;
  /** From `start` to the keys; 15 s unless said otherwise. */
  readonly limitMs?: number;
}

export const HANDSHAKE_LIMIT_MS = 15_000;
const RETRANSMIT_MS = 200; // the first; each further one after twice as long: a call has no second to lose
const LONGEST_WAIT_MS = 2000; // however the system's clock was set meanwhile
const ALERT_WAIT_MS = 2000; // above the interval at which an end repeats a flight
const MOST_EARLY = 16; // datagrams before the start: two flights
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
  readonly #options: AssociationOptions;
  readonly #handle: number;
  #early: Uint8Array[] = [];
  #started = false;
  #open = false;
  #over = false;
  #turn = 0;
  /** Unprotected records that were read. */
  #records = 0;
  /** The description of the last alert that came unprotected. */
  #alert: number | undefined;
  /** The far end has sent a part of the handshake. */
  #answered = false;
  #cancelAlert: (() => void) | undefined;
  #cancelLimit: (() => void) | undefined;
  #cancelTimeout: (() => void) | undefined;

  /** Throws DTLS_FAILED where the certificate is closed. */
  constructor(options: AssociationOptions) {
    this.#options = options;
    const fingerprints = options.fingerprints.flatMap(({ hash, digest }) => [hash, digest]);
    const active = options.role === 'active';
    try {
      this.#handle = mediaAddon().dtlsOpen(options.certificate.handle, {
        active,
        fingerprints,
        retransmitMs: RETRANSMIT_MS,
        applicationData: options.onData !== undefined,
      });
    } catch (error) {
      throw new ParleyError('DTLS_FAILED', (error as Error).message, { cause: error });
    }
  }

  /** The far end is authenticated and there are keys. */
  get open(): boolean {
    return this.#open && !this.#over;
  }

  /** It failed, or one of the two ended it. */
  get over(): boolean {
    return this.#over;
  }

  /** Connects, or takes what the far end has sent. Idempotent. */
  start(): void {
    if (this.#started || this.#over) return;
    this.#started = true;
    const { time, limitMs = HANDSHAKE_LIMIT_MS } = this.#options;
    this.#cancelLimit = time.after(limitMs, () => {
      const hint = this.#alert === undefined ? '' : `; an unprotected alert came, number ${this.#alert}`;
      this.#fail(new ParleyError('TIMEOUT', `the DTLS handshake did not end in time${hint}`));
    });
    this.#take(mediaAddon().dtlsStart(this.#handle));
    const early = this.#early;
    this.#early = [];
    for (const data of early) this.receive(data);
  }

  /**
   * Takes a received datagram. Anything but DTLS of this association is ignored. Before the start, up to
   * MOST_EARLY datagrams of a handshake are kept.
   */
  receive(data: Uint8Array): void {
    if (this.#over) return;
    // Once keys exist, OpenSSL drops unprotected records itself. Before that it would fail because of them.
    const read = this.#open ? data : this.#readHandshake(data);
    if (read === undefined) return;
    if (this.#started) this.#take(mediaAddon().dtlsReceive(this.#handle, read));
    else if (this.#early.length < MOST_EARLY && hasHandshake(read)) this.#early.push(read);
  }

  // Anybody can send an unprotected alert. It counts where the far end then says nothing more of its
  // handshake.
  #readHandshake(data: Uint8Array): Uint8Array | undefined {
    const sender = this.#options.role === 'active' ? 'server' : 'client';
    const read = handshakeDatagram(data, sender, () => this.#records++);
    if (read !== undefined && hasHandshake(read)) {
      this.#answered = true;
      this.#cancelAlert?.();
      this.#cancelAlert = undefined;
    }
    const alert = unprotectedAlert(data);
    if (alert === undefined) return read;
    this.#alert = alert;
    if (this.#answered) this.#cancelAlert ??= this.#options.time.after(ALERT_WAIT_MS, () => this.#alerted());
    return read;
  }

  #alerted(): void {
    const name = ALERT_NAMES.get(this.#alert ?? 0) ?? 'of another kind';
    const alert = `alert ${this.#alert} (${name})`;
    this.#fail(new ParleyError('DTLS_FAILED', `the far end ended the DTLS handshake with ${alert}`));
  }

  /** Sends one message of application data, at most 2048 bytes; false unless the association is open. */
  sendData(data: Uint8Array): boolean {
    const output = this.#over ? null : mediaAddon().dtlsSend(this.#handle, data);
    for (const datagram of output ?? []) this.#options.send(datagram);
    return output !== null;
  }

  /** Sends close_notify if keys exist. No callback follows. Idempotent. */
  close(): void {
    this.#end();
  }

  #take(step: DtlsStep | null): void {
    if (step === null || this.#over) return;
    const turn = ++this.#turn;
    for (const data of step.output) this.#options.send(data);
    // `send` may have closed this association, or delivered an answer that made this step stale.
    if (this.over || turn !== this.#turn) return;
    this.#schedule(step.timeoutMs);
    if (step.state === 'open') this.#opened();
    for (const data of step.received) if (!this.over) this.#options.onData?.(data);
    if (this.over || turn !== this.#turn) return;
    if (step.state === 'failed') this.#fail(errorOf(step));
    else if (step.state === 'closed') this.#closedByPeer();
  }

  #opened(): void {
    if (this.#open) return;
    const keys = mediaAddon().dtlsKeys(this.#handle);
    if (keys === null) return;
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
    else onFailed(new ParleyError('DTLS_FAILED', 'the far end ended the DTLS handshake'));
  }

  #fail(error: ParleyError): void {
    this.#end();
    this.#options.onFailed(error);
  }

  #schedule(timeoutMs: number): void {
    this.#cancelTimeout?.();
    this.#cancelTimeout = undefined;
    if (timeoutMs < 0) return;
    const waitMs = Math.min(Math.max(timeoutMs, 1), LONGEST_WAIT_MS);
    this.#cancelTimeout = this.#options.time.after(waitMs, () =>
      this.#take(mediaAddon().dtlsHandleTimeout(this.#handle)),
    );
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#early = [];
    this.#cancelLimit?.();
    this.#cancelAlert?.();
    this.#cancelTimeout?.();
    for (const data of mediaAddon().dtlsClose(this.#handle) ?? []) this.#options.send(data);
  }
}

function errorOf({ failure, reason }: DtlsStep): ParleyError {
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

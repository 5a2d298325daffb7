// A browser that hears a running call (WHEP): its connection sends what the call sends, without an encoder of
// its own. It follows the call to each port of the same codec, and ends with the call.
import type { Call } from '../src/call/call.js';
import type { IceFragment, IceRestart, SdpSession } from '../src/call/sdp-exchange.js';
import type { CallPlace } from '../src/call/switchboard.js';
import type { ParleyError } from '../src/errors.js';
import type { Playout } from '../src/media/playout.js';
import type { PlayoutListener } from '../src/media/playout-listener.js';
import type { BrowserCallParts } from './browser-call.js';
import type { Offer } from './offer.js';
import { PeerConnection } from './peer-connection.js';

const SESSION_NAME_BYTES = 8;

export class BrowserListener {
  readonly id: string;
  /** The call that is heard. */
  readonly call: Call;
  /** Resolves when nothing of it is left. */
  readonly freed: Promise<void>;
  readonly #parts: BrowserCallParts;
  readonly #place: CallPlace;
  readonly #connection: PeerConnection;
  readonly #unfollow: () => void;
  #playout: Playout | undefined;
  #listener: PlayoutListener | undefined;
  #iceSession: string;
  #resolveFreed!: () => void;
  #isOver = false;

  /** Throws CALL_LIMIT; the place is still the caller's then. */
  constructor(place: CallPlace, call: Call, offer: Offer, parts: BrowserCallParts) {
    this.id = place.id;
    this.call = call;
    this.#place = place;
    this.#parts = parts;
    this.freed = new Promise((resolve) => (this.#resolveFreed = resolve));
    this.#iceSession = this.#newSessionName();
    this.#connection = new PeerConnection(
      offer,
      'listen',
      parts,
      {
        connected: () => undefined,
        listening: (listener) => {
          this.#listener = listener;
          place.confirmed();
        },
        // Nothing is said to a listener; werift acknowledges the channel first.
        channel: (channel) => void setImmediate(() => channel.close()),
        keyDown: () => undefined,
        digit: () => undefined,
        interrupted: () => undefined,
        lost: () => this.#end('peer lost'),
        ended: () => this.#end('peer closed'),
        failed: (error) => this.#end(error.code),
        closing: () => undefined,
      },
      () => this.#playout as Playout,
    );
    this.#unfollow = call.follow(({ playout }) => this.#follow(playout));
    void call.closed.then(() => this.#end('call ended'));
    parts.log.info({ call: call.id, listener: this.id }, 'listener opened');
  }

  get session(): SdpSession {
    return { id: this.id, sdp: this.#connection.answer, iceSession: this.#iceSession, token: undefined };
  }

  /** The server repeats nothing for a listener, because the call goes on for the others. */
  patchIce(fragment: IceFragment, receivedTimestamp?: number): IceRestart | undefined {
    const restarted = this.#connection.patchIce(fragment, receivedTimestamp);
    if (restarted === undefined) return undefined;
    this.#iceSession = this.#newSessionName();
    return { ...restarted, iceSession: this.#iceSession };
  }

  /** Resolves when nothing is left. */
  end(reason: string): Promise<void> {
    this.#end(reason);
    return this.freed;
  }

  #follow(playout: Playout): void {
    this.#playout = playout;
    try {
      this.#listener?.follow(playout);
    } catch (error) {
      // The call has another codec now, which the browser did not agree to.
      this.#end((error as ParleyError).code);
    }
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unfollow();
    this.#connection.close();
    this.#place.release();
    this.#parts.log.info({ call: this.call.id, listener: this.id, reason }, 'listener closed');
    this.#resolveFreed();
  }

  #newSessionName(): string {
    return this.#parts.randomBytes(SESSION_NAME_BYTES).toString('hex');
  }
}

// The server of browser calls: it answers an offer and opens a call. The native plane carries the call's
// audio both ways, and the page talks over a data channel.
import type { IceFragment, IceRestart, SdpExchange, SdpOffer, SdpSession } from '../src/call/sdp-exchange.js';
import { mayUseCall, type Switchboard } from '../src/call/switchboard.js';
import { ParleyError } from '../src/errors.js';
import { BrowserCall, type BrowserCallParts } from './browser-call.js';
import { readOffer } from './offer.js';

interface BrowserServerParts extends BrowserCallParts {
  readonly switchboard: Pick<Switchboard, 'reserve'>;
  /** Why another call would be one too many for this machine now; undefined if it would not. */
  readonly overload?: () => string | undefined;
}

const OVERLOAD_RETRY_S = 2;

export class BrowserServer implements SdpExchange {
  readonly #parts: BrowserServerParts;
  readonly #calls = new Map<string, BrowserCall>();
  readonly #byToken = new Map<string, BrowserCall>();
  /** Names of API keys; calls that belong to every key are not in it. */
  readonly #owners = new WeakMap<BrowserCall, string>();
  #closing: Promise<void> | undefined;

  constructor(parts: BrowserServerParts) {
    this.#parts = parts;
  }

  /** Browser calls, including those being set up. */
  get size(): number {
    return this.#calls.size;
  }

  /** The call goes on being set up after the answer. */
  async open({ sdp, use = 'talk', owner, clients }: SdpOffer): Promise<SdpSession> {
    this.#refuseClosing();
    const offer = readOffer(sdp, use);
    const overload = this.#parts.overload?.();
    if (overload !== undefined) {
      throw new ParleyError('OVERLOADED', overload, { retryAfterSeconds: OVERLOAD_RETRY_S });
    }
    const place = this.#parts.switchboard.reserve({ protocol: 'webrtc', clients });
    let browser;
    try {
      browser = new BrowserCall(place, offer, use, this.#parts);
    } catch (error) {
      place.release();
      throw error;
    }
    this.#keep(browser, owner);
    return browser.session;
  }

  #keep(browser: BrowserCall, owner: string | undefined): void {
    const { id, token } = browser;
    this.#calls.set(id, browser);
    this.#byToken.set(token, browser);
    if (owner !== undefined) this.#owners.set(browser, owner);
    void browser.freed.then(() => {
      this.#calls.delete(id);
      this.#byToken.delete(token);
    });
  }

  iceSession(id: string, key?: string): string | undefined {
    return this.#find(id, key)?.session.iceSession;
  }

  patchIce(id: string, fragment: IceFragment): IceRestart | undefined {
    const browser = this.#calls.get(id);
    if (browser === undefined) throw new ParleyError('NOT_FOUND', 'there is no session of this id');
    return browser.patchIce(fragment);
  }

  async resume(token: string, { sdp, use = 'talk' }: SdpOffer): Promise<SdpSession> {
    this.#refuseClosing();
    const browser = this.#byToken.get(token);
    if (browser === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this token');
    return browser.resume(readOffer(sdp, use));
  }

  isTokenOf(id: string, token: string): boolean {
    return this.#byToken.get(token)?.id === id;
  }

  async hangUp(id: string, key?: string): Promise<boolean> {
    const browser = this.#find(id, key);
    if (browser === undefined) return false;
    await browser.end('hang-up');
    return true;
  }

  #find(id: string, key: string | undefined): BrowserCall | undefined {
    const browser = this.#calls.get(id);
    return browser !== undefined && mayUseCall(key, this.#owners.get(browser)) ? browser : undefined;
  }

  #refuseClosing(): void {
    if (this.#closing !== undefined) throw new ParleyError('CALL_CLOSED', 'the server is closing');
  }

  /** Refuses new offers and ends every call. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(
      [...this.#calls.values()].map((browser) => browser.end('server closing')),
    ).then(() => undefined);
    return this.#closing;
  }
}

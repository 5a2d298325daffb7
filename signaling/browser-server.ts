// The server of browser calls: it answers an offer and opens a call. The native plane sends the call's audio,
// and the page talks over a data channel.
import { RTCDtlsTransport, type RTCCertificate } from 'werift';
import { mayUseCall, type Switchboard } from '../src/call/switchboard.js';
import { ParleyError, asParleyError } from '../src/errors.js';
import { BrowserCall, type BrowserCallParts } from './browser-call.js';
import { readOffer, type Offer } from './offer.js';
import { mendUdpSockets, type PeerNetwork, WeriftPeer } from './werift-peer.js';

interface BrowserServerParts extends BrowserCallParts {
  readonly switchboard: Pick<Switchboard, 'open'>;
  readonly network: PeerNetwork;
  /** Made by `makeCertificate` before the first call. */
  readonly certificate: RTCCertificate;
}

/** The DTLS certificate of this process: 80 ms that no caller should wait for. */
export function makeCertificate(): Promise<RTCCertificate> {
  return RTCDtlsTransport.SetupCertificate();
}

export class BrowserServer {
  readonly #parts: BrowserServerParts;
  readonly #calls = new Map<string, BrowserCall>();
  /** Names of API keys; calls that belong to every key are not in it. */
  readonly #owners = new WeakMap<BrowserCall, string>();
  /** Settled when the switchboard has a call or has given it up. */
  readonly #opening = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(parts: BrowserServerParts) {
    this.#parts = parts;
    mendUdpSockets(parts.random);
  }

  /** Browser calls, including those being set up. */
  get size(): number {
    return this.#calls.size;
  }

  /**
   * Answers an offer; the call goes on being set up after the answer. Rejects with SDP_INVALID,
   * NO_COMMON_CODEC, CALL_LIMIT, CLIENT_LIMIT, CALL_CLOSED when the server is closing, or
   * TRANSPORT_UNSUPPORTED, and then nothing is left of it. `clients` are the names under which the call is
   * counted. `owner` is the name of the API key that the call belongs to; undefined: to every key.
   */
  async open(
    { sdp }: { sdp: string; session?: unknown },
    owner?: string,
    clients?: readonly string[],
  ): Promise<{ id: string; sdp: string }> {
    if (this.#closing !== undefined) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    const offer = readOffer(sdp);
    return new Promise((resolve, reject) => {
      const opened = this.#parts.switchboard.open(
        async (id) => {
          const browser = this.#receive(id, offer, owner);
          resolve({ id, sdp: await browser.answer() });
          return browser.port;
        },
        { protocol: 'webrtc', clients },
      );
      const joined = opened.then(
        (call) => this.#calls.get(call.id)?.join(call),
        (error: unknown) => reject(asParleyError(error, 'TRANSPORT_UNSUPPORTED')),
      );
      this.#opening.add(joined);
      void joined.then(() => this.#opening.delete(joined));
    });
  }

  #receive(id: string, offer: Offer, owner: string | undefined): BrowserCall {
    const { network, certificate } = this.#parts;
    const peer = new WeriftPeer(offer, network, certificate);
    let browser;
    try {
      browser = new BrowserCall(id, offer, peer, this.#parts);
    } catch (error) {
      void peer.close();
      throw error;
    }
    this.#calls.set(id, browser);
    if (owner !== undefined) this.#owners.set(browser, owner);
    void browser.freed.then(() => this.#calls.delete(id));
    return browser;
  }

  /**
   * Ends a browser call, whether it is set up or not yet. False when there is none of this id that the client
   * with the API key of this name may use; undefined: with any key.
   */
  async hangUp(id: string, key?: string): Promise<boolean> {
    const browser = this.#calls.get(id);
    if (browser === undefined || !mayUseCall(key, this.#owners.get(browser))) return false;
    await browser.end('hang-up');
    return true;
  }

  /** Refuses new offers and ends every call. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#calls.values()].map((browser) => browser.end('server closing')));
    await Promise.all(this.#opening);
  }
}

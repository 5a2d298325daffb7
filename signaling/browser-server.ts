// The server of browser calls: it answers an offer and opens a call. The native plane carries the call's
// audio both ways, and the page talks over a data channel.
import type { IceFragment, IceRestart, SdpExchange, SdpOffer, SdpSession } from '../src/call/sdp-exchange.js';
import { mayUseCall, type Switchboard } from '../src/call/switchboard.js';
import { ParleyError } from '../src/errors.js';
import type { Call } from '../src/call/call.js';
import type { CallPrograms } from '../src/call/call-programs.js';
import { NO_AGENT } from '../src/call/call-handler.js';
import { BrowserCall, type BrowserCallParts } from './browser-call.js';
import { BrowserListener } from './browser-listener.js';
import { readOffer } from './offer.js';

interface BrowserServerParts extends BrowserCallParts {
  readonly switchboard: Pick<Switchboard, 'reserve' | 'get'>;
  /** Name of the API key that another room's call belongs to; undefined if it belongs to every key. */
  readonly ownerOf?: (id: string) => string | undefined;
  /** Why another call would be one too many for this machine now; undefined if it would not. */
  readonly overload?: () => string | undefined;
}

const OVERLOAD_RETRY_S = 2;
const SETUP_RETRY_S = 1;

export class BrowserServer implements SdpExchange {
  readonly #parts: BrowserServerParts;
  readonly #calls = new Map<string, BrowserCall | BrowserListener>();
  readonly #byToken = new Map<string, BrowserCall>();
  /** Names of API keys; calls that belong to every key are not in it. */
  readonly #owners = new WeakMap<BrowserCall | BrowserListener, string>();
  #closing: Promise<void> | undefined;

  constructor(parts: BrowserServerParts) {
    this.#parts = parts;
  }

  /** Browser calls, including those being set up. */
  get size(): number {
    return this.#calls.size;
  }

  /** The call goes on being set up after the answer. */
  async open({
    sdp,
    use = 'talk',
    owner,
    clients,
    listenTo,
    agent,
    program,
    session,
  }: SdpOffer): Promise<SdpSession> {
    this.#refuseClosing();
    const heard = listenTo === undefined ? undefined : this.#callOf(listenTo, owner);
    this.#checkAgent(agent);
    this.#checkProgram(program, agent);
    const offer = readOffer(sdp, use, heard && [heard.codec]);
    const overload = this.#parts.overload?.();
    if (overload !== undefined) {
      throw new ParleyError('OVERLOADED', overload, { retryAfterSeconds: OVERLOAD_RETRY_S });
    }
    const place = this.#parts.switchboard.reserve({ protocol: 'webrtc', clients });
    let browser;
    try {
      browser =
        heard === undefined
          ? new BrowserCall(place, offer, { use, owner, agent, program, session }, this.#parts)
          : new BrowserListener(place, heard, offer, this.#parts);
    } catch (error) {
      place.release();
      throw error;
    }
    this.#keep(browser, owner);
    return browser.session;
  }

  #checkAgent(agent: string | undefined): void {
    if (agent === undefined || agent === NO_AGENT || this.#parts.handler?.has(agent) === true) return;
    throw new ParleyError('INVALID_FIELD', `there is no agent ${JSON.stringify(agent)}`, { field: 'agent' });
  }

  #checkProgram(name: string | undefined, agent: string | undefined): void {
    if (name === undefined) return;
    const problem =
      agent === undefined
        ? problemOfProgram(name, this.#parts.programs)
        : 'a program conducts the call: "agent" must be absent';
    if (problem !== undefined) throw new ParleyError('INVALID_FIELD', problem, { field: 'program' });
  }

  /** The running call that a client with the key `owner` may hear; undefined: any key. */
  #callOf(id: string, key: string | undefined): Call {
    const browser = this.#calls.get(id);
    const owner = browser === undefined ? this.#parts.ownerOf?.(id) : this.#owners.get(browser);
    const call = this.#parts.switchboard.get(id);
    if (!mayUseCall(key, owner) || (call === undefined && !(browser instanceof BrowserCall))) {
      throw new ParleyError('NOT_FOUND', 'there is no call of this id');
    }
    if (call !== undefined) return call;
    throw new ParleyError('CALL_STATE', 'the call is not set up yet', { retryAfterSeconds: SETUP_RETRY_S });
  }

  /** Name of the API key that a call belongs to; undefined: to every key, or there is no such call. */
  ownerOf(id: string): string | undefined {
    const browser = this.#calls.get(id);
    return browser === undefined ? undefined : this.#owners.get(browser);
  }

  #keep(browser: BrowserCall | BrowserListener, owner: string | undefined): void {
    const { id } = browser;
    this.#calls.set(id, browser);
    if (browser instanceof BrowserCall) this.#byToken.set(browser.token, browser);
    if (owner !== undefined) this.#owners.set(browser, owner);
    void browser.freed.then(() => {
      this.#calls.delete(id);
      if (browser instanceof BrowserCall) this.#byToken.delete(browser.token);
    });
  }

  iceSession(id: string, key?: string): string | undefined {
    return this.#find(id, key)?.session.iceSession;
  }

  patchIce(id: string, fragment: IceFragment, receivedTimestamp?: number): IceRestart | undefined {
    const browser = this.#calls.get(id);
    if (browser === undefined) throw new ParleyError('NOT_FOUND', 'there is no session of this id');
    return browser.patchIce(fragment, receivedTimestamp);
  }

  async resume(token: string, { sdp, receivedTimestamp }: SdpOffer): Promise<SdpSession> {
    this.#refuseClosing();
    const browser = this.#byToken.get(token);
    if (browser === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this token');
    return browser.resume(readOffer(sdp, browser.use), receivedTimestamp);
  }

  isTokenOf(id: string, token: string): boolean {
    const call = this.#byToken.get(token)?.id;
    const heard = this.#calls.get(id);
    return (
      call !== undefined && (call === id || (heard instanceof BrowserListener && heard.call.id === call))
    );
  }

  async hangUp(id: string, key?: string): Promise<boolean> {
    const browser = this.#find(id, key);
    if (browser === undefined) return false;
    await browser.end('hang-up');
    return true;
  }

  #find(id: string, key: string | undefined): BrowserCall | BrowserListener | undefined {
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

function problemOfProgram(
  name: string,
  programs: Pick<CallPrograms, 'problemOf'> | undefined,
): string | undefined {
  if (programs === undefined) return 'this server has no call programs';
  return programs.problemOf({ kind: 'program', name });
}

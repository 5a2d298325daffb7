// A fake exchange of session descriptions. Its sessions are in memory, and the tests change them. It answers
// every offer that has an audio section, and knows no media.
import type {
  IceFragment,
  IceRestart,
  SdpExchange,
  SdpOffer,
  SdpSession,
} from '../../../src/call/sdp-exchange.js';
import { ParleyError } from '../../../src/errors.js';

export const OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  '',
].join('\r\n');

export const ANSWER = 'v=0\r\ns=answer\r\n';

interface FakeSession {
  readonly owner: string | undefined;
  readonly listenTo: string | undefined;
  /** Number of its ICE restarts. */
  restarts: number;
  /** ICE user fragment of the client. */
  ufrag: string;
}

export class FakeExchange implements SdpExchange {
  readonly offers: SdpOffer[] = [];
  readonly sessions = new Map<string, FakeSession>();
  /** The API key that each session was opened with. */
  readonly owners = new Map<string, string | undefined>();
  /** The API key that each session was ended with. */
  readonly enders: (readonly [id: string, key: string | undefined])[] = [];
  /** The fragments that were taken, with the id of their session. */
  readonly fragments: (readonly [id: string, fragment: IceFragment])[] = [];
  /** The RTP timestamp that each restart and resumption stated. */
  readonly receivedTimestamps: (number | undefined)[] = [];
  /** The tokens that resumed a call. */
  readonly resumed: string[] = [];
  /** Thrown for whatever is opened next, while it is there. */
  refusal: ParleyError | undefined;
  /** Thrown for whatever is patched next, while it is there. */
  patchRefusal: ParleyError | undefined;
  /** Calls that have nothing to hear yet. */
  readonly silent = new Set<string>();
  /** Throws for an offer that is not usable. */
  check = (sdp: string): unknown => checkFirstLine(sdp);
  /** Awaited before an offer is answered. */
  ready: Promise<void> = Promise.resolve();

  /** The names under which each session was to be counted. */
  get clients(): (readonly string[])[] {
    return this.offers.map(({ clients }) => clients ?? []);
  }

  get standing(): ReadonlySet<string> {
    return new Set(this.sessions.keys());
  }

  /** Forgets everything, so that the next test finds a new exchange. */
  reset(): void {
    for (const list of [this.offers, this.enders, this.fragments, this.resumed, this.receivedTimestamps]) {
      list.length = 0;
    }
    this.sessions.clear();
    this.owners.clear();
    this.silent.clear();
    this.refusal = this.patchRefusal = undefined;
  }

  async open(offer: SdpOffer): Promise<SdpSession> {
    this.offers.push(offer);
    const { listenTo, owner } = offer;
    await this.ready;
    if (this.refusal !== undefined) throw this.refusal;
    this.check(offer.sdp);
    if (listenTo !== undefined) this.#checkHeard(listenTo, owner);
    const id = `rtc_${this.offers.length}`;
    this.sessions.set(id, { owner, listenTo, restarts: 0, ufrag: 'offered' });
    this.owners.set(id, owner);
    return this.#sessionOf(id);
  }

  iceSession(id: string, key?: string): string | undefined {
    const session = this.sessions.get(id);
    return session === undefined || !mayUse(key, session)
      ? undefined
      : `ice${session.restarts}${id.slice(4)}`;
  }

  patchIce(id: string, fragment: IceFragment, receivedTimestamp?: number): IceRestart | undefined {
    if (this.patchRefusal !== undefined) throw this.patchRefusal;
    const session = this.sessions.get(id);
    if (session === undefined) throw new ParleyError('NOT_FOUND', 'there is no session of this id');
    this.fragments.push([id, fragment]);
    if (fragment.ufrag === undefined || fragment.ufrag === session.ufrag) return undefined;
    this.receivedTimestamps.push(receivedTimestamp);
    session.restarts++;
    session.ufrag = fragment.ufrag;
    return {
      iceSession: this.iceSession(id) ?? '',
      ufrag: `server${session.restarts}`,
      pwd: 'p'.repeat(24),
      candidates: ['1 1 udp 2130706431 192.0.2.1 3478 typ host'],
      mid: '0',
    };
  }

  async resume(token: string, offer: SdpOffer): Promise<SdpSession> {
    const id = [...this.sessions.keys()].find((one) => this.isTokenOf(one, token));
    if (id === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this token');
    this.offers.push(offer);
    await this.ready;
    this.check(offer.sdp);
    this.resumed.push(token);
    this.receivedTimestamps.push(offer.receivedTimestamp);
    const session = this.sessions.get(id);
    if (session !== undefined) session.restarts++;
    return this.#sessionOf(id);
  }

  isTokenOf(id: string, token: string): boolean {
    const session = this.sessions.get(id);
    return session !== undefined && token === tokenOf(session.listenTo ?? id);
  }

  hangUp(id: string, key?: string): Promise<boolean> {
    this.enders.push([id, key]);
    const session = this.sessions.get(id);
    return Promise.resolve(session !== undefined && mayUse(key, session) && this.sessions.delete(id));
  }

  #checkHeard(id: string, owner: string | undefined): void {
    const heard = this.sessions.get(id);
    if (heard === undefined || !mayUse(owner, heard)) {
      throw new ParleyError('NOT_FOUND', 'there is no call of this id');
    }
    if (this.silent.has(id)) throw new ParleyError('CALL_STATE', 'the call is still in set-up');
  }

  #sessionOf(id: string): SdpSession {
    const isListener = this.sessions.get(id)?.listenTo !== undefined;
    const iceSession = this.iceSession(id) ?? '';
    return { id, sdp: ANSWER, iceSession, token: isListener ? undefined : tokenOf(id) };
  }
}

export function tokenOf(id: string): string {
  return `token-of-${id}`;
}

function mayUse(key: string | undefined, { owner }: FakeSession): boolean {
  return key === undefined || owner === undefined || key === owner;
}

function checkFirstLine(sdp: string): void {
  if (!sdp.startsWith('v=0')) throw new ParleyError('SDP_INVALID', 'an offer begins with v=0');
  if (!sdp.includes('m=audio')) throw new ParleyError('NO_COMMON_CODEC', 'no audio in the offer');
}

// A browser door that looks at the first line of an offer and no further.
import { ParleyError } from '../../../src/errors.js';
import type { BrowserCalls, Offer } from '../../../src/api/calls/browser-calls.js';

export const OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  '',
].join('\r\n');

export class FakeCalls implements BrowserCalls {
  readonly offers: Offer[] = [];
  readonly standing = new Set<string>();
  /** Whose API key each call was opened with. */
  readonly owners = new Map<string, string | undefined>();
  /** Whose API key each call was to be ended with. */
  readonly enders: (readonly [id: string, key: string | undefined])[] = [];
  refusal: ParleyError | undefined;
  /** Throws for an offer that is not usable. */
  check = (sdp: string): unknown => checkFirstLine(sdp);
  /** Awaited before an offer is answered. */
  gate: Promise<void> = Promise.resolve();

  /** The names under which each call was to be counted. */
  readonly clients: (readonly string[])[] = [];

  async open(
    offer: Offer,
    owner?: string,
    clients: readonly string[] = [],
  ): Promise<{ id: string; sdp: string }> {
    this.offers.push(offer);
    this.clients.push(clients);
    await this.gate;
    if (this.refusal !== undefined) throw this.refusal;
    this.check(offer.sdp);
    const id = `rtc_${this.offers.length}`;
    this.standing.add(id);
    this.owners.set(id, owner);
    return { id, sdp: 'v=0\r\ns=answer\r\n' };
  }

  hangUp(id: string, key?: string): Promise<boolean> {
    this.enders.push([id, key]);
    return Promise.resolve(this.standing.delete(id));
  }
}

function checkFirstLine(sdp: string): void {
  if (!sdp.startsWith('v=0')) throw new ParleyError('SDP_INVALID', 'an offer begins with v=0');
  if (!sdp.includes('m=audio')) throw new ParleyError('NO_COMMON_CODEC', 'no audio in the offer');
}

// Opens browser calls through the exchange of session descriptions as far as BrowserServer does it: calls
// that talk. It has no PATCH, no listeners and no resumption.
import type { IceRestart, SdpExchange, SdpOffer, SdpSession } from '../src/call/sdp-exchange.js';
import { ParleyError } from '../src/errors.js';
import type { BrowserServer } from './browser-server.js';

export class PlainExchange implements SdpExchange {
  readonly #browsers: Pick<BrowserServer, 'open' | 'hangUp'>;

  constructor(browsers: Pick<BrowserServer, 'open' | 'hangUp'>) {
    this.#browsers = browsers;
  }

  async open({ sdp, use, owner, clients }: SdpOffer): Promise<SdpSession> {
    if (use !== 'talk') {
      throw new ParleyError('CAPABILITY_MISSING', 'this server serves neither WHIP nor WHEP');
    }
    const { id, sdp: answer } = await this.#browsers.open({ sdp }, owner, clients);
    return { id, sdp: answer, iceSession: id, token: undefined };
  }

  iceSession(): string | undefined {
    return undefined;
  }

  patchIce(): IceRestart | undefined {
    throw new ParleyError('NOT_FOUND', 'there is no session of this id');
  }

  resume(): Promise<SdpSession> {
    return Promise.reject(new ParleyError('NOT_FOUND', 'there is no call of this token'));
  }

  isTokenOf(): boolean {
    return false;
  }

  hangUp(id: string, key?: string): Promise<boolean> {
    return this.#browsers.hangUp(id, key);
  }
}

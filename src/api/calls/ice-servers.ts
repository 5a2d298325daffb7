// The STUN and TURN servers announced to clients, with credentials that expire: as Link headers for WHIP and
// WHEP (RFC 9725 section 4.6), and as the configuration of an RTCPeerConnection.
//
// Credentials are those of coturn's use-auth-secret: the user name begins with the second at which it
// expires, and the password is the HMAC-SHA1 of the user name under a secret that both servers have.
import { createHmac, randomBytes } from 'node:crypto';

export interface IceServerOptions {
  /** URLs of RFC 7064 and RFC 7065. */
  readonly iceServers: readonly string[];
  /** Undefined only if there is no TURN server. */
  readonly turnSecret: string | undefined;
  readonly turnTtlSeconds: number;
}

/** An RTCIceServer of the browsers. */
interface IceServer {
  readonly urls: readonly string[];
  readonly username?: string;
  readonly credential?: string;
}

export const NO_ICE_SERVERS: IceServerOptions = { iceServers: [], turnSecret: undefined, turnTtlSeconds: 0 };

export class IceServers {
  readonly ttlSeconds: number;
  readonly #stun: readonly string[];
  readonly #turn: readonly string[];
  readonly #secret: string | undefined;
  readonly #now: () => number;
  readonly #newName: () => string;

  /**
   * `now`: milliseconds of the wall clock. `newName` distinguishes users for the limits of the TURN server.
   */
  constructor(
    { iceServers, turnSecret, turnTtlSeconds }: IceServerOptions,
    now: () => number = Date.now,
    newName = () => randomBytes(6).toString('hex'),
  ) {
    this.ttlSeconds = turnTtlSeconds;
    this.#turn = iceServers.filter((url) => /^turns?:/i.test(url));
    this.#stun = iceServers.filter((url) => !this.#turn.includes(url));
    this.#secret = turnSecret;
    this.#now = now;
    this.#newName = newName;
  }

  /** Servers with new credentials. */
  forClient(): IceServer[] {
    const stun = this.#stun.length === 0 ? [] : [{ urls: this.#stun }];
    if (this.#turn.length === 0 || this.#secret === undefined) return stun;
    const expires = Math.floor(this.#now() / 1000) + this.ttlSeconds;
    const username = `${expires}:${this.#newName()}`;
    const credential = createHmac('sha1', this.#secret).update(username).digest('base64');
    return [...stun, { urls: this.#turn, username, credential }];
  }

  /** One Link header for each server, with new credentials. */
  links(): string[] {
    return this.forClient().flatMap(({ urls, username, credential }) =>
      urls.map((url) => {
        const link = `<${url}>; rel="ice-server"`;
        if (username === undefined) return link;
        return `${link}; username="${username}"; credential="${credential}"; credential-type="password"`;
      }),
    );
  }
}

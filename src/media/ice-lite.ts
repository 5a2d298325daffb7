// The lite half of ICE (RFC 8445 section 2.5): it sends no checks and answers those of the far end. These
// find the way through NATs and choose the address pair of the media by USE-CANDIDATE.
//
//   request ─▶ well formed? ─▶ credentials? ─▶ ours to be controlled? ─▶ answered ─▶ nominated?
//
// The far end's checks continue for as long as it consents to receive (RFC 7675).
import type { Time } from '../time.js';
import {
  ATTRIBUTE,
  BINDING,
  isSealedWith,
  readStun,
  type StunAttribute,
  type StunMessage,
  valueOf,
  writeStun,
  xorMappedAddress,
} from './stun-message.js';

/** Credentials of both sides (RFC 8839 section 5.4). */
export interface IceCredentials {
  readonly localUfrag: string;
  readonly localPwd: string;
  readonly remoteUfrag: string;
  readonly remotePwd: string;
}

/** 1 is RTP, and RTCP where the two share a port; 2 is RTCP on its own. */
export type IceComponent = 1 | 2;

interface IceLiteOptions {
  readonly credentials: IceCredentials;
  readonly time: Time;
  readonly send: (data: Uint8Array, address: string, port: number, component: IceComponent) => void;
  /** Called when the far end nominates another address for its media. */
  readonly onNominated: (address: string, port: number, component: IceComponent) => void;
}

interface Nominated {
  readonly source: string;
  readonly priority: number;
  /** Time of the last nomination, in milliseconds. */
  readonly atMs: number;
}

interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly attributes?: readonly StunAttribute[];
  /** Key of the refusal's MESSAGE-INTEGRITY; set only if the request was authenticated. */
  readonly key?: string;
}

const MOST_SOURCES = 64; // addresses of one far end that have passed a check
const MOST_ERRORS = 20; // per second, so that the server cannot be used to flood others with answers
const RENOMINATION_MS = 2000;
const BAD_REQUEST: Refusal = { code: 400, reason: 'Bad Request' };
const UNAUTHENTICATED: Refusal = { code: 401, reason: 'Unauthenticated' };
const ROLE_CONFLICT: Refusal = { code: 487, reason: 'Role Conflict' };
const UNKNOWN_ATTRIBUTE: Refusal = { code: 420, reason: 'Unknown Attribute' };
const UNDERSTOOD: ReadonlySet<number> = new Set(Object.values(ATTRIBUTE));
const FIRST_OPTIONAL = 0x8000;

export class IceLite {
  readonly #options: IceLiteOptions;
  #credentials: IceCredentials;
  /** Credentials from before the last ICE restart: the old pair stays in use until a new one is nominated. */
  #previous: IceCredentials | undefined;
  readonly #sources = new Set<string>();
  readonly #nominated = new Map<IceComponent, Nominated>();
  #lastCheckMs: number | undefined;
  #errors = 0;
  #errorsSinceMs = -Infinity;

  constructor(options: IceLiteOptions) {
    this.#options = options;
    this.#credentials = options.credentials;
  }

  /** Time of the last check that the far end passed, on the clock of `time`; undefined before the first. */
  get lastCheckMs(): number | undefined {
    return this.#lastCheckMs;
  }

  /** True if a check with valid credentials came from this address. */
  hasChecked(address: string, port: number): boolean {
    return this.#sources.has(nameOf(address, port));
  }

  /** A restart (RFC 8445 section 9). The same credentials again change nothing. */
  restart(credentials: IceCredentials): void {
    const { localUfrag, localPwd, remoteUfrag, remotePwd } = this.#credentials;
    const sameLocal = localUfrag === credentials.localUfrag && localPwd === credentials.localPwd;
    if (sameLocal && remoteUfrag === credentials.remoteUfrag && remotePwd === credentials.remotePwd) return;
    if (!sameLocal) {
      this.#previous = this.#credentials;
      // Whatever the new checks ask for first counts, be its priority lower.
      for (const [component, held] of this.#nominated) {
        this.#nominated.set(component, { ...held, priority: -1 });
      }
    }
    this.#credentials = credentials;
  }

  /** One datagram. What is no check of ICE is left alone. */
  receive(data: Uint8Array, address: string, port: number, component: IceComponent = 1): void {
    const request = readStun(data);
    if (request?.class !== 'request' || request.method !== BINDING) return;
    const result = this.#authenticate(request);
    if ('code' in result) return this.#refuse(request, result, address, port, component);
    const mapped = xorMappedAddress(address, port, request.transaction);
    if (mapped === undefined) return;
    const attributes = [{ type: ATTRIBUTE.xorMappedAddress, value: mapped }];
    const { transaction } = request;
    const key = Buffer.from(result.localPwd);
    const answer = writeStun({ class: 'success', method: BINDING, transaction, attributes, key });
    this.#lastCheckMs = this.#options.time.now();
    this.#note(nameOf(address, port));
    this.#options.send(answer, address, port, component);
    if (result === this.#credentials) this.#nominate(request, address, port, component);
  }

  /**
   * Authenticates a request in the order of RFC 8489 section 9.1.3. Returns the credentials that match, or
   * the refusal.
   */
  #authenticate(request: StunMessage): IceCredentials | Refusal {
    const username = valueOf(request, ATTRIBUTE.username);
    if (username === undefined || request.sealed === undefined) return BAD_REQUEST;
    // RFC 8445 section 7.3: our fragment, a colon, and theirs, which may be unknown yet.
    const [ufrag, theirs] = Buffer.from(username).toString('utf8').split(':', 2);
    const known = [this.#credentials, this.#previous].find((held) => held?.localUfrag === ufrag);
    if (known === undefined || theirs === undefined) return UNAUTHENTICATED;
    if (!isSealedWith(request, Buffer.from(known.localPwd))) return UNAUTHENTICATED;
    const unknown = request.attributes.filter(({ type }) => type < FIRST_OPTIONAL && !UNDERSTOOD.has(type));
    const key = known.localPwd;
    if (unknown.length > 0) return { ...UNKNOWN_ATTRIBUTE, attributes: [unknownAttributes(unknown)], key };
    // An ICE-lite agent is always controlled, so a controlled peer must switch roles.
    return valueOf(request, ATTRIBUTE.iceControlled) === undefined ? known : { ...ROLE_CONFLICT, key };
  }

  #refuse(
    { transaction }: StunMessage,
    { code, reason, attributes = [], key }: Refusal,
    address: string,
    port: number,
    component: IceComponent,
  ): void {
    const nowMs = this.#options.time.now();
    if (nowMs - this.#errorsSinceMs >= 1000) {
      this.#errorsSinceMs = nowMs;
      this.#errors = 0;
    }
    if (++this.#errors > MOST_ERRORS) return;
    const value = Buffer.concat([Buffer.of(0, 0, Math.floor(code / 100), code % 100), Buffer.from(reason)]);
    const answer = writeStun({
      class: 'error',
      method: BINDING,
      transaction,
      attributes: [{ type: ATTRIBUTE.errorCode, value }, ...attributes],
      key: key === undefined ? undefined : Buffer.from(key),
    });
    this.#options.send(answer, address, port, component);
  }

  /**
   * The latest one counts, so that the far end may move. Older far ends ask for every pair that works (RFC
   * 5245 section 8.1.1.2): among those that are asked for at the same time, the highest priority does.
   */
  #nominate(request: StunMessage, address: string, port: number, component: IceComponent): void {
    if (valueOf(request, ATTRIBUTE.useCandidate) === undefined) return;
    const source = nameOf(address, port);
    const atMs = this.#options.time.now();
    const priority = priorityOf(request);
    const held = this.#nominated.get(component);
    const rules = held === undefined || held.source === source || priority > held.priority;
    if (!rules && atMs - held.atMs < RENOMINATION_MS) return;
    this.#nominated.set(component, { source, priority, atMs });
    if (held?.source !== source) this.#options.onNominated(address, port, component);
  }

  #note(source: string): void {
    this.#sources.delete(source);
    this.#sources.add(source);
    const [oldest] = this.#sources;
    if (this.#sources.size > MOST_SOURCES && oldest !== undefined) this.#sources.delete(oldest);
  }
}

function nameOf(address: string, port: number): string {
  return `${address} ${port}`;
}

function priorityOf(request: StunMessage): number {
  const value = valueOf(request, ATTRIBUTE.priority);
  return value?.length === 4 ? Buffer.from(value).readUInt32BE(0) : 0;
}

function unknownAttributes(unknown: readonly StunAttribute[]): StunAttribute {
  const value = Buffer.alloc(2 * unknown.length);
  unknown.forEach(({ type }, at) => value.writeUInt16BE(type, 2 * at));
  return { type: ATTRIBUTE.unknownAttributes, value };
}

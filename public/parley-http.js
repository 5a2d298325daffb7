// The requests of a call: open it, restart its ICE, resume it on another connection, end it.
// The answers are documented in docs/webrtc.md.

const CALLS = 'v1/realtime/calls';
const ICE_SERVERS = 'v1/realtime/ice_servers';
const REQUEST_MS = 20_000;
const RECOVERY_REQUEST_MS = 5000; // a network that has just changed may drop the first packets

export const WRONG_KEY = 'The server does not accept this API key. Check it and enter it again.';
const UNREACHABLE = 'The server does not answer. Is it running?';

/** An error whose message can be shown to a user. */
export class CallError extends Error {
  /** Seconds after which the server asks the client to try again. @type {number | undefined} */
  retryAfterSeconds;
  /** The code with which the server names the error; empty for an error of the browser or the network. */
  code = '';

  /**
   * @param {string} message
   * @param {number} [status] The HTTP status, or 0 if there was no answer.
   * @param {ErrorOptions & { code?: string | undefined }} [options]
   */
  constructor(message, status = 0, { code = '', ...options } = {}) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

/** The error of an answer that is not a success. @param {Response} answer */
export async function refusalOf(answer) {
  const body = await answer.json().catch(() => undefined);
  const message = body?.error?.message ?? `The server answered with status ${answer.status}.`;
  const error = new CallError(message, answer.status, { code: body?.error?.code ?? '' });
  const seconds = Number(answer.headers.get('Retry-After') ?? NaN);
  if (Number.isFinite(seconds)) error.retryAfterSeconds = seconds;
  return error;
}

/**
 * Server-sent events of a body, with JSON as their data. `id` is empty if the event has none.
 * @param {ReadableStream<Uint8Array>} body
 */
export async function* eventsOf(body) {
  const decoder = /** @type {any} */ (new TextDecoderStream());
  const reader = body.pipeThrough(decoder).getReader();
  let [rest, id] = ['', ''];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('id: ')) id = line.slice(4);
        if (line.startsWith('data: ')) yield { id, data: JSON.parse(line.slice(6)) };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // a reader that leaves early leaves the server, too
  }
}

/**
 * Throws CallError for a key with characters that no header carries: no key of a server has them.
 * @param {string} key
 * @returns {Record<string, string>}
 */
export function authorization(key) {
  if (/[^\x21-\x7e]/.test(key)) throw new CallError(WRONG_KEY, 401);
  return key === '' ? {} : { Authorization: `Bearer ${key}` };
}

/** @param {number | undefined} received @returns {Record<string, string>} */
function receivedHeader(received) {
  return received === undefined ? {} : { 'Parley-Received-Timestamp': String(received) };
}

/** The session of one call on the server. Every method rejects with CallError. */
export class CallSession {
  /** @type {string} */
  #server;
  /** @type {string} */
  #key;
  /** @type {string | undefined} */
  #url;
  /** @type {string | undefined} */
  #token;
  /** @type {AbortSignal} */
  #ending;
  /** The parameters of the opening. @type {Readonly<Record<string, string>>} */
  #opening;

  /**
   * @param {string} server URL of the folder of the server's API.
   * @param {string} key
   * @param {AbortSignal} ending Aborted at the end of the call.
   * @param {Readonly<Record<string, string>>} [opening] Name of an agent or of a program.
   */
  constructor(server, key, ending, opening = {}) {
    this.#server = server;
    this.#key = key;
    this.#ending = ending;
    this.#opening = opening;
  }

  /** The call's id; undefined before the call is open. */
  get id() {
    return this.#url === undefined ? undefined : decodeURIComponent(this.#url.split('/').at(-1) ?? '');
  }

  /**
   * The configuration that the server gives to clients.
   * @returns {Promise<{ iceServers: RTCIceServer[], ttlSeconds: number }>}
   */
  async iceServers() {
    const answer = await this.#request(new URL(ICE_SERVERS, this.#server), {
      headers: authorization(this.#key),
    });
    if (answer.status !== 200) throw await refusalOf(answer);
    return answer.json();
  }

  /** Returns the answer to the offer. @param {string} offer */
  async open(offer) {
    const url = new URL(CALLS, this.#server);
    for (const [name, value] of Object.entries(this.#opening)) url.searchParams.set(name, value);
    const answer = await this.#request(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', ...authorization(this.#key) },
      body: offer,
      signal: new AbortController().signal, // an aborted request might leave a call behind
    });
    if (answer.status !== 201) throw await refusalOf(answer);
    // A proxy may have put the API below a path that the Location of the server does not know.
    const id = (answer.headers.get('Location') ?? '').split('/').at(-1);
    this.#url = `${answer.url.split('?', 1)[0]}/${id}`;
    this.#token = answer.headers.get('Parley-Call-Token') ?? undefined;
    return answer.text();
  }

  /**
   * Returns the SDP fragment of the server for the new ICE session (RFC 9725 section 4.3.3). `received`: RTP
   * timestamp of the last sound, if none arrives any more. The server sends once more what it sent after it.
   * @param {string} fragment
   * @param {number} [received]
   */
  async restartIce(fragment, received) {
    const answer = await this.#request(this.#address, {
      method: 'PATCH',
      headers: {
        'Content-Type': 'application/trickle-ice-sdpfrag',
        'If-Match': '*',
        ...receivedHeader(received),
        ...this.#ownAuthorization(),
      },
      body: fragment,
      limitMs: RECOVERY_REQUEST_MS,
    });
    if (answer.status !== 200) throw await refusalOf(answer);
    return answer.text();
  }

  /**
   * Moves the call to the connection of this offer. Returns the answer. `received` as for a restart.
   * @param {string} offer
   * @param {number} [received]
   */
  async resume(offer, received) {
    const answer = await this.#request(`${this.#address}/resume`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/sdp',
        ...receivedHeader(received),
        ...this.#ownAuthorization(),
      },
      body: offer,
      limitMs: RECOVERY_REQUEST_MS,
    });
    if (answer.status !== 201) throw await refusalOf(answer);
    return answer.text();
  }

  /** Ends the call if there is one. The request outlives the page. Idempotent. */
  hangUp() {
    if (this.#url === undefined) return;
    const options = { method: 'DELETE', headers: this.#ownAuthorization(), keepalive: true };
    fetch(this.#url, options).catch(() => undefined);
    this.#url = undefined;
  }

  get #address() {
    if (this.#url === undefined) throw new CallError('The call is not open.');
    return this.#url;
  }

  /** A key may expire during the call, and its token does not. */
  #ownAuthorization() {
    return authorization(this.#token ?? this.#key);
  }

  /**
   * @param {string | URL} url
   * @param {RequestInit & { limitMs?: number, signal?: AbortSignal }} options
   */
  async #request(url, { limitMs = REQUEST_MS, signal = this.#ending, ...options }) {
    try {
      return await fetch(url, {
        ...options,
        signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
      });
    } catch (cause) {
      throw new CallError(UNREACHABLE, 0, { cause });
    }
  }
}

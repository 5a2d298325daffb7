// One call to the server: its sound comes in, JSON goes both ways.
//
// The offer goes out with one request and the answer comes back with it; from
// then on everything travels on the connection itself.

const CALLS = 'v1/realtime/calls';
const OPEN_MS = 20_000; // from the press of the button to the open channel
const GATHER_MS = 1000; // more candidates may come later than anybody wants to wait

export const WRONG_KEY = 'The server does not accept this API key. Check it and enter it again.';

/** What went wrong, in words that can be shown. `status` is the HTTP status, 0 where there was none. */
export class CallError extends Error {
  constructor(message, status = 0, options) {
    super(message, options);
    this.status = status;
  }
}

/** The message of an answer that is not a success. */
export async function refusalOf(answer) {
  const body = await answer.json().catch(() => undefined);
  const message = body?.error?.message ?? `The server answered with status ${answer.status}.`;
  return new CallError(message, answer.status);
}

/** Throws CallError for a key with characters that no header carries: no key of a server has them. */
export function authorization(key) {
  if (/[^\x21-\x7e]/.test(key)) throw new CallError(WRONG_KEY, 401);
  return key === '' ? {} : { Authorization: `Bearer ${key}` };
}

export class VoiceCall {
  #key;
  #peer = new RTCPeerConnection();
  #channel;
  #location;
  #ended = false;
  #told;

  /** `told` has onMessage(message), onSound(stream), onTrouble(text) and onEnd(text): the call is over. */
  constructor(key, told) {
    this.#key = key;
    this.#told = told;
    this.#peer.addTransceiver('audio', { direction: 'recvonly' });
    this.#channel = this.#peer.createDataChannel('parley');
    this.#channel.onmessage = ({ data }) => this.#read(data);
    this.#channel.onclose = () => this.#over('The server ended the call.');
    this.#peer.ontrack = ({ track }) => told.onSound(new MediaStream([track]));
    this.#peer.onconnectionstatechange = () => this.#connectionChanged();
  }

  /** Resolves when both sides can hear each other; throws CallError. */
  async open() {
    const opened = new Promise((resolve, reject) => {
      this.#channel.onopen = resolve;
      this.#channel.onerror = () => reject(new CallError('The connection could not be made.'));
    });
    opened.catch(() => undefined);
    await this.#peer.setLocalDescription(await this.#peer.createOffer());
    await this.#gathered();
    await this.#exchange();
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new CallError(NO_PATH)), OPEN_MS);
    });
    try {
      await Promise.race([opened, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #exchange() {
    const headers = { 'Content-Type': 'application/sdp', ...authorization(this.#key) };
    let answer;
    try {
      answer = await fetch(CALLS, {
        method: 'POST',
        headers,
        body: this.#peer.localDescription.sdp,
        signal: AbortSignal.timeout(OPEN_MS),
      });
    } catch (cause) {
      throw new CallError('The server does not answer. Is it running?', 0, { cause });
    }
    if (answer.status !== 201) throw await refusalOf(answer);
    this.#location = answer.headers.get('Location');
    if (this.#ended) return this.#hangUp();
    await this.#peer.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
  }

  #gathered() {
    if (this.#peer.iceGatheringState === 'complete') return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#peer.onicegatheringstatechange = () => {
        if (this.#peer.iceGatheringState !== 'complete') return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #connectionChanged() {
    const state = this.#peer.connectionState;
    if (state === 'disconnected')
      this.#told.onTrouble('The connection is interrupted. Waiting for it to come back.');
    if (state === 'connected') this.#told.onTrouble('');
    if (state === 'failed') this.#over(NO_PATH);
  }

  #read(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return; // not ours: the server sends JSON only
    }
    this.#told.onMessage(message);
  }

  /** False when the call is not there to take it. */
  send(message) {
    if (this.#channel.readyState !== 'open') return false;
    this.#channel.send(JSON.stringify(message));
    return true;
  }

  /** What the browser measures: {roundTripMs, jitterMs, packets, lost, concealedPercent}; unknown ones undefined. */
  async figures() {
    const figures = {};
    for (const report of (await this.#peer.getStats()).values()) {
      if (report.type === 'candidate-pair' && report.nominated && report.currentRoundTripTime !== undefined) {
        figures.roundTripMs = report.currentRoundTripTime * 1000;
      }
      if (report.type !== 'inbound-rtp' || report.kind !== 'audio') continue;
      figures.jitterMs = report.jitter * 1000;
      figures.packets = report.packetsReceived;
      figures.lost = report.packetsLost;
      const heard = report.totalSamplesReceived - (report.silentConcealedSamples ?? 0);
      const invented = report.concealedSamples - (report.silentConcealedSamples ?? 0);
      if (heard > 0) figures.concealedPercent = (100 * invented) / heard;
    }
    return figures;
  }

  #over(text) {
    if (this.#ended) return;
    this.close();
    this.#told.onEnd(text);
  }

  /** Ends the call on both sides; any number of times. */
  close() {
    if (this.#ended) return;
    this.#ended = true;
    this.#hangUp();
    this.#peer.close();
  }

  // keepalive: the request outlives a page that is being left.
  #hangUp() {
    if (!this.#location) return;
    const options = { method: 'DELETE', headers: authorization(this.#key), keepalive: true };
    fetch(this.#location, options).catch(() => undefined);
    this.#location = undefined;
  }
}

const NO_PATH = 'No path to the server could be found. A firewall may block its UDP ports.';

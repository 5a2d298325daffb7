// One RTCPeerConnection to the server: the sound comes in, and JSON texts go both ways on a data channel. The
// sound of a microphone goes out if the call has used one.

export const NO_PATH = 'No path to the server could be found. A firewall may block its UDP ports.';

// The server sends a packet every 20 ms, also while nothing is spoken.
const ARRIVAL = { stableMs: 120, limitMs: 300 };
const PLAYED = { stableMs: 60, limitMs: 1000 }; // the jitter buffer is empty by then
const LOOK_MS = 20;

/**
 * @typedef {object} ConnectionEvents
 * @property {(message: any) => void} message A JSON message of the server.
 * @property {(stream: MediaStream) => void} sound
 * @property {(state: RTCPeerConnectionState) => void} changed
 * @property {() => void} channelClosed
 */

/**
 * @typedef {object} CallFigures Measurements of the browser; undefined if unknown.
 * @property {number} [roundTripMs]
 * @property {number} [jitterMs]
 * @property {number} [packets] Packets of sound received.
 * @property {number} [lost]
 * @property {number} [concealedPercent] Share of the sound that the browser filled in.
 */

export class Connection {
  /** Resolves when the data channel is open. Rejects if ICE or DTLS fails before. @type {Promise<void>} */
  opened;
  /** Milliseconds that the sound waits in the jitter buffer, as of the last call of `packets`. */
  delayMs = 0;
  /** @type {RTCPeerConnection} */
  #peer;
  /** @type {RTCDataChannel} */
  #channel;
  /** @type {RTCRtpTransceiver} */
  #transceiver;
  /** Seconds that all samples so far have waited in the jitter buffer, and their number. */
  #waited = { seconds: 0, samples: 0 };
  /** The result of `lastTimestamp`. @type {{ packets: number, timestamp: number } | undefined} */
  #last;
  #isClosed = false;

  /**
   * `track` is that of the microphone. Null: it may come later. Undefined: this connection only receives.
   * @param {RTCIceServer[]} iceServers
   * @param {ConnectionEvents} on
   * @param {MediaStreamTrack | null} [track]
   */
  constructor(iceServers, on, track) {
    this.#peer = new RTCPeerConnection({ iceServers });
    const direction = track === undefined ? 'recvonly' : 'sendrecv';
    this.#transceiver = this.#peer.addTransceiver(track ?? 'audio', { direction });
    this.#channel = this.#peer.createDataChannel('parley');
    this.#peer.ontrack = ({ track }) => on.sound(new MediaStream([track]));
    this.#channel.onmessage = ({ data }) => this.#isClosed || read(data, on.message);
    this.#channel.onclose = () => this.#isClosed || on.channelClosed();
    this.opened = new Promise((resolve, reject) => {
      this.#channel.onopen = () => resolve();
      this.#channel.onerror = () => reject(new Error('the data channel failed'));
      this.#peer.onconnectionstatechange = () => {
        if (this.#isClosed) return;
        if (this.state === 'failed') reject(new Error('no pair of candidates works'));
        on.changed(this.state);
      };
    });
    this.opened.catch(() => undefined);
  }

  /** An RTCPeerConnectionState. */
  get state() {
    return this.#peer.connectionState;
  }

  /** True if a track of a microphone can be sent. */
  get sends() {
    return this.#transceiver.direction === 'sendrecv';
  }

  /**
   * Sends this track of a microphone from now on; null sends nothing.
   * @param {MediaStreamTrack | null} track
   */
  async sendTrack(track) {
    await this.#transceiver.sender.replaceTrack(track);
  }

  /** The server is ICE-lite, so the offer need not wait for candidates of this side. */
  async offer() {
    await this.#peer.setLocalDescription(await this.#peer.createOffer());
    return this.#localSdp;
  }

  get #localSdp() {
    return this.#peer.localDescription?.sdp ?? '';
  }

  /** @param {string} answer */
  async accept(answer) {
    if (!this.#isClosed) await this.#peer.setRemoteDescription({ type: 'answer', sdp: answer });
  }

  /**
   * Restarts ICE. `exchange` sends the fragment of this side and returns that of the server. The connection
   * is as before if `exchange` rejects.
   * @param {RTCIceServer[]} iceServers
   * @param {(fragment: string) => Promise<string>} exchange
   */
  async restartIce(iceServers, exchange) {
    this.#peer.setConfiguration({ iceServers });
    await this.#peer.setLocalDescription(await this.#peer.createOffer({ iceRestart: true }));
    let fragment;
    try {
      fragment = await exchange(fragmentOf(this.#localSdp));
    } catch (error) {
      if (!this.#isClosed) await this.#peer.setLocalDescription({ type: 'rollback' });
      throw error;
    }
    await this.accept(withTransport(this.#peer.currentRemoteDescription?.sdp ?? '', fragment));
  }

  /** False if the channel is not open. @param {object} message */
  send(message) {
    if (this.#channel.readyState !== 'open') return false;
    this.#channel.send(JSON.stringify(message));
    return true;
  }

  /** Packets of sound received so far. @returns {Promise<number>} */
  async packets() {
    for (const report of (await this.#peer.getStats()).values()) {
      if (report.type !== 'inbound-rtp' || report.kind !== 'audio') continue;
      this.#measureDelay(report);
      return report.packetsReceived;
    }
    return 0;
  }

  /** @param {{ jitterBufferDelay?: number, jitterBufferEmittedCount?: number }} report */
  #measureDelay({ jitterBufferDelay: seconds = 0, jitterBufferEmittedCount: samples = 0 }) {
    const played = samples - this.#waited.samples;
    if (played > 0) this.delayMs = (1000 * (seconds - this.#waited.seconds)) / played;
    this.#waited = { seconds, samples };
  }

  /**
   * RTP timestamp of the sound that was received last, once packets arrive no more and all of them are
   * played. Undefined if they go on, or if nothing was ever received.
   */
  async lastTimestamp() {
    const packets = await settled(() => this.packets(), ARRIVAL);
    if (packets === undefined) return undefined;
    if (this.#last?.packets !== packets) {
      const timestamp = await settled(() => this.#playedTimestamp(), PLAYED);
      this.#last = timestamp === undefined ? undefined : { packets, timestamp };
    }
    return this.#last?.timestamp;
  }

  /** Of the packet that is played. Browsers forget it after ten seconds. */
  #playedTimestamp() {
    return this.#transceiver.receiver.getSynchronizationSources()[0]?.rtpTimestamp;
  }

  /** Measurements of the browser. @returns {Promise<CallFigures>} */
  async figures() {
    /** @type {CallFigures} */
    const figures = {};
    for (const report of (await this.#peer.getStats()).values()) {
      if (report.type === 'candidate-pair' && report.nominated && report.currentRoundTripTime !== undefined) {
        figures.roundTripMs = report.currentRoundTripTime * 1000;
      }
      if (report.type !== 'inbound-rtp' || report.kind !== 'audio') continue;
      figures.jitterMs = report.jitter * 1000;
      figures.packets = report.packetsReceived;
      figures.lost = report.packetsLost;
      const played = report.totalSamplesReceived - (report.silentConcealedSamples ?? 0);
      const concealed = report.concealedSamples - (report.silentConcealedSamples ?? 0);
      if (played > 0) figures.concealedPercent = (100 * concealed) / played;
    }
    return figures;
  }

  /** No callback follows. Idempotent. */
  close() {
    this.#isClosed = true;
    this.#peer.close();
  }
}

/**
 * The value of `look` once it has been the same for `stableMs`; undefined if it changes until `limitMs`.
 * @template T
 * @param {() => T | Promise<T>} look
 * @param {{ stableMs: number, limitMs: number }} times
 * @returns {Promise<T | undefined>}
 */
async function settled(look, { stableMs, limitMs }) {
  const began = performance.now();
  let [value, since] = [await look(), began];
  while (performance.now() - since < stableMs) {
    if (performance.now() - began >= limitMs) return undefined;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const present = await look();
    if (present !== value) [value, since] = [present, performance.now()];
  }
  return value;
}

/** @param {string} data @param {(message: any) => void} take */
function read(data, take) {
  let message;
  try {
    message = JSON.parse(data);
  } catch {
    return; // the server sends JSON only
  }
  take(message);
}

const CREDENTIALS = /^a=ice-(?:ufrag|pwd):/;
const CANDIDATES = /^a=(?:candidate:|end-of-candidates)/;

/** @param {string} sdp */
const linesOf = (sdp) => sdp.split(/\r?\n/).filter((line) => line !== '');

/** The ICE credentials of a description as an SDP fragment (RFC 8840 section 9). @param {string} sdp */
export function fragmentOf(sdp) {
  const lines = linesOf(sdp);
  const credentials = new Set(lines.filter((line) => CREDENTIALS.test(line)));
  const mid = lines.find((line) => line.startsWith('a=mid:'));
  return [...credentials, 'm=audio 9 UDP/TLS/RTP/SAVPF 0', mid, ''].join('\r\n');
}

/**
 * The description with the ICE credentials and candidates of the fragment, as its next version.
 * @param {string} sdp
 * @param {string} fragment
 */
export function withTransport(sdp, fragment) {
  const given = linesOf(fragment);
  /** @param {string} name */
  const credential = (name) => given.find((line) => line.startsWith(`a=ice-${name}:`));
  const candidates = given.filter((line) => CANDIDATES.test(line));
  let isFirst = true; // the sections share one transport, which the first of them describes
  return linesOf(sdp)
    .filter((line) => !CANDIDATES.test(line))
    .flatMap((line) => {
      if (line.startsWith('o='))
        return line.replace(/^(o=\S+ \S+ )(\d+)/, (_, head, version) => head + (Number(version) + 1));
      if (line.startsWith('a=ice-ufrag:')) return credential('ufrag');
      if (!line.startsWith('a=ice-pwd:')) return line;
      const added = isFirst ? candidates : [];
      isFirst = false;
      return [credential('pwd'), ...added];
    })
    .concat('')
    .join('\r\n');
}

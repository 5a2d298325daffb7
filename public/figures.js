// The live figures: what the server tells about itself and what the browser measures.

const HISTORY = 12; // texts whose time to the first packet is shown as bars
const UNKNOWN = '–';
const TILES = [
  'first-packet',
  'answer',
  'underruns',
  'round-trip',
  'jitter',
  'packets',
  'concealed',
  'mos',
  'codec',
];

export class Figures {
  #element;
  #history = [];
  /** The browser measures the round trip. Otherwise the server's figure is shown. */
  #hasRoundTrip = false;

  /** `element` finds one by id. */
  constructor(element) {
    this.#element = element;
    this.reset();
  }

  #put(id, value) {
    const element = this.#element(id);
    element.textContent = value;
    element.classList.toggle('unknown', value === UNKNOWN);
  }

  reset() {
    for (const id of TILES) this.#put(id, UNKNOWN);
    this.#put('lost', 'received');
    this.#put('remote', 'as the server estimates it');
    this.#history = [];
    this.#hasRoundTrip = false;
    this.#element('spark').replaceChildren();
  }

  /** An agent talks in the call. */
  set hasAgent(isThere) {
    this.#element('answer-tile').hidden = !isThere;
  }

  /**
   * The parts of the way to an answer of the agent, in milliseconds; those that it did not have are absent.
   */
  answer({ totalMs, silenceMs, textMs, modelMs, speechMs, packetMs }) {
    this.#put('answer', Math.round(totalMs));
    const parts = [
      ['silence', silenceMs],
      ['text', textMs],
      ['model', modelMs],
      ['speech', speechMs],
      ['packet', packetMs],
    ];
    const told = parts.filter(([, ms]) => ms !== undefined).map(([name, ms]) => `${name} ${Math.round(ms)}`);
    this.#put('answer-note', told.join(', '));
  }

  call({ codec, call }) {
    const name = typeof codec === 'object' ? codec?.name : codec;
    this.#put('codec', name === 'opus' ? 'Opus' : (name ?? UNKNOWN));
    if (call !== undefined) this.#put('call-id', 'agreed for the call');
  }

  /** Milliseconds from the arrival of a text to its first packet, and to its first queued payload. */
  firstPacket(firstPacketMs, queuedMs) {
    this.#put('first-packet', Math.round(firstPacketMs));
    if (queuedMs !== undefined) {
      this.#put(
        'first-packet-note',
        `${Math.round(queuedMs)} ms to make the sound, the rest until its turn on the wire`,
      );
    }
    this.#history.push(firstPacketMs);
    if (this.#history.length > HISTORY) this.#history.shift();
    const highest = Math.max(...this.#history, 1);
    const bars = this.#history.map((ms) => {
      const bar = document.createElement('i');
      bar.style.height = `${Math.max(8, (100 * ms) / highest)}%`;
      return bar;
    });
    this.#element('spark').replaceChildren(...bars);
  }

  /** `remote` is what this browser has reported to the server by RTCP. */
  server({ underruns, remote }) {
    if (underruns !== undefined) this.#put('underruns', underruns);
    if (remote === undefined) return;
    const { loss, jitterMs, rttMs, mos } = remote;
    if (typeof mos === 'number') this.#put('mos', mos.toFixed(1));
    if (typeof rttMs === 'number' && !this.#hasRoundTrip) this.#put('round-trip', shortMs(rttMs));
    const reported = [
      ...(typeof loss === 'number' ? [`${(100 * loss).toFixed(1)} % lost`] : []),
      ...(typeof jitterMs === 'number' ? [`${shortMs(jitterMs)} ms jitter`] : []),
    ];
    if (reported.length > 0) this.#put('remote', reported.join(', '));
  }

  browser({ roundTripMs, jitterMs, packets, lost, concealedPercent }) {
    this.#hasRoundTrip ||= roundTripMs !== undefined;
    if (roundTripMs !== undefined) this.#put('round-trip', shortMs(roundTripMs));
    if (jitterMs !== undefined) this.#put('jitter', shortMs(jitterMs));
    if (packets !== undefined) this.#put('packets', packets.toLocaleString('en'));
    if (lost !== undefined) this.#put('lost', lost === 0 ? 'none lost' : `${lost} lost`);
    if (concealedPercent !== undefined)
      this.#put('concealed', concealedPercent.toFixed(concealedPercent < 10 ? 1 : 0));
  }
}

function shortMs(ms) {
  return ms < 10 ? ms.toFixed(1) : Math.round(ms);
}

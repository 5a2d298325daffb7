// Runs in the page before its own script: a peer connection whose other end is
// the test. `window.server` sends what a server would, and remembers what it got.
{
  const server = { received: [], channel: undefined, peer: undefined, tone: undefined };
  window.server = server;
  /** Name of the agent of calls. */
  server.agent = undefined;
  /** Directions of the offers so far. */
  server.directions = [];
  /** What the page asks of the microphone. */
  server.asked = [];
  /** Name of the error with which the browser refuses the microphone. */
  server.refusal = undefined;
  /** The track of the microphone that the newest connection sends. */
  server.sent = undefined;

  server.send = (message) => server.channel.onmessage({ data: JSON.stringify(message) });
  // An ICE restart, or a connection after it, is heard again.
  server.lose = () => {
    server.peer.connectionState = 'failed';
    server.peer.onconnectionstatechange();
  };

  class FakeChannel {
    readyState = 'connecting';
    send(data) {
      server.received.push(JSON.parse(data));
    }
  }

  // A tone that swells and fades, so that the meter has something to show.
  function makeTrack() {
    const context = new AudioContext();
    const tone = context.createOscillator();
    const volume = context.createGain();
    const swell = context.createOscillator();
    const depth = context.createGain();
    tone.frequency.value = 220;
    swell.frequency.value = 2.3;
    volume.gain.value = 0.12;
    depth.gain.value = 0.11;
    swell.connect(depth).connect(volume.gain);
    const out = context.createMediaStreamDestination();
    tone.connect(volume).connect(out);
    tone.start();
    swell.start();
    return out.stream.getAudioTracks()[0];
  }

  navigator.mediaDevices.getUserMedia = async (asked) => {
    server.asked.push(asked);
    if (server.refusal !== undefined) throw new DOMException('refused', server.refusal);
    return new MediaStream([makeTrack()]);
  };

  navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'audioinput' }];

  window.RTCPeerConnection = class {
    connectionState = 'new';
    localDescription = undefined;
    currentRemoteDescription = undefined;
    #offers = 0;
    #packets = 1_284_000;

    constructor() {
      server.peer = this;
    }
    addTransceiver(kind, { direction }) {
      server.directions.push(direction);
      server.sent = kind === 'audio' ? null : kind;
      const sender = { replaceTrack: async (track) => void (server.sent = track) };
      return { direction, sender, receiver: { getSynchronizationSources: () => [] } };
    }
    setConfiguration() {}
    createDataChannel() {
      server.channel = new FakeChannel();
      return server.channel;
    }
    async createOffer() {
      const ice = `a=ice-ufrag:page${++this.#offers}\r\na=ice-pwd:${'p'.repeat(22)}\r\n`;
      return { type: 'offer', sdp: `v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n${ice}` };
    }
    async setLocalDescription(description) {
      this.localDescription = description;
    }
    async setRemoteDescription(description) {
      this.currentRemoteDescription = description;
      this.connectionState = 'connected';
      this.onconnectionstatechange();
      if (this.#offers > 1) return; // ICE has been restarted
      this.ontrack({ track: makeTrack() });
      server.channel.readyState = 'open';
      server.channel.onopen();
      const agent = server.agent === undefined ? {} : { agent: server.agent };
      server.send({ type: 'ready', call: 'rtc_1', codec: 'opus', ...agent, limits: { textLength: 4096 } });
    }
    async getStats() {
      const pair = { type: 'candidate-pair', nominated: true, currentRoundTripTime: 0.0123 };
      const inbound = {
        type: 'inbound-rtp',
        kind: 'audio',
        jitter: 0.0014,
        packetsReceived: ++this.#packets,
        packetsLost: 0,
        totalSamplesReceived: 1_000_000,
        concealedSamples: 0,
        silentConcealedSamples: 0,
      };
      return new Map([
        ['a', pair],
        ['b', inbound],
      ]);
    }
    close() {
      server.closed = true;
    }
  };
}

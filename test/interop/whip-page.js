// Runs in the page of a test: sessions of the clients of WHIP and WHEP, and what the page hears.
import { WHIPClient as EyevinnClient } from '/eyevinn.js';
import { WHEPClient } from '/whep.js';
import { WHIPClient } from '/whip.js';

/** Every request to another origin, with what its answer said. */
const requests = [];
const send = window.fetch.bind(window);
window.fetch = async (url, options = {}) => {
  const response = await send(url, options);
  if (new URL(url, location.href).origin === location.origin) return response;
  const { method = 'GET', headers = {} } = options;
  const condition = headers['If-Match'] ?? headers.ETag;
  const etag = response.headers.get('etag');
  requests.push({ method, status: response.status, condition, etag });
  return response;
};

/** A tone, as from a microphone. */
function tone() {
  const context = new AudioContext();
  const out = context.createMediaStreamDestination();
  const oscillator = context.createOscillator();
  oscillator.connect(out);
  oscillator.start();
  return out.stream;
}

/** Plays what comes in, or nothing would be decoded. */
function play(connection) {
  const audio = new Audio();
  connection.ontrack = ({ track }) => {
    audio.srcObject = new MediaStream([track]);
    void audio.play();
  };
}

async function statsOf(connection) {
  const reports = [...(await connection.getStats()).values()];
  const find = (wanted) => reports.find(({ type, kind }) => type === wanted && kind === 'audio');
  const pair = reports.find(
    ({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded',
  );
  return {
    state: connection.connectionState,
    atMs: performance.timeOrigin + performance.now(),
    heard: find('inbound-rtp'),
    sent: find('outbound-rtp'),
    // The server's receiver reports on what the page sends.
    reported: find('remote-inbound-rtp'),
    local: reports.find(({ id }) => id === pair?.localCandidateId),
  };
}

const CLIENTS = {
  'whip-whep publishes': async (url, configuration) => {
    const connection = new RTCPeerConnection(configuration);
    const client = new WHIPClient();
    const [track] = tone().getAudioTracks();
    connection.addTransceiver(track, { direction: 'sendonly', streams: [new MediaStream([track])] });
    await client.publish(connection, url);
    return {
      connection,
      resource: client.resourceURL.href,
      restart: () => client.restart(),
      stop: () => client.stop(),
    };
  },
  'whip-whep listens': async (url, configuration) => {
    const connection = new RTCPeerConnection(configuration);
    const client = new WHEPClient();
    play(connection);
    connection.addTransceiver('audio', { direction: 'recvonly' });
    await client.view(connection, url);
    return {
      connection,
      resource: client.resourceURL.href,
      restart: () => client.restart(),
      stop: () => client.stop(),
    };
  },
  'whip-web-client publishes': (url, configuration) => ingest(url, configuration, tone()),
  'whip-web-client publishes with video': (url, configuration) => {
    const [video] = document.createElement('canvas').captureStream().getTracks();
    return ingest(url, configuration, new MediaStream([...tone().getTracks(), video]));
  },
};

async function ingest(endpoint, configuration, stream) {
  let connection;
  const client = new EyevinnClient({
    endpoint,
    opts: { iceServers: [] },
    peerConnectionFactory: () => (connection = new RTCPeerConnection(configuration)),
  });
  await client.ingest(stream);
  return { connection, resource: await client.getResourceUrl(), stop: () => client.destroy() };
}

/** Opens a session; `session` is its face for the test, and the resource is returned. */
window.openSession = async (name, url, configuration = {}) => {
  const { connection, resource, restart, stop } = await CLIENTS[name](url, configuration);
  window.session = { requests, restart, stop, stats: () => statsOf(connection) };
  return resource;
};

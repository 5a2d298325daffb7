// A browser that calls as a telephone: Chromium's own offer, our answer, ICE-lite,
// DTLS-SRTP, and sound both ways on one of our sockets.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { AgreedAudio } from '../../sip/sdp/agreed-audio.js';
import { MediaNegotiation } from '../../sip/sdp/media-negotiation.js';
import type { HandshakeTerms } from '../../src/media/media-handshake.js';
import { until } from '../fakes/until.js';
import { LOOPBACK, SecuredLeg } from '../media/secured-leg.js';
import { countingBytes, POLICY, valueOf } from '../sip/sdp/negotiation-under-test.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

// Runs in the page: a tone goes out, what comes in is played, or nothing would be decoded.
const CALLER = `
window.openCall = () => {
  const connection = new RTCPeerConnection();
  const context = new AudioContext();
  const out = context.createMediaStreamDestination();
  const tone = context.createOscillator();
  tone.connect(out);
  tone.start();
  const sender = connection.addTrack(out.stream.getAudioTracks()[0], out.stream);
  connection.createDataChannel('not for telephones');
  const audio = new Audio();
  connection.ontrack = ({ track }) => {
    audio.srcObject = new MediaStream([track]);
    void audio.play();
  };
  const gathered = () =>
    new Promise((resolve) => {
      if (connection.iceGatheringState === 'complete') return resolve();
      connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve();
    });
  window.call = {
    connection,
    offer: async (options) => {
      await connection.setLocalDescription(await connection.createOffer(options));
      if (options?.trickle !== true) await gathered();
      return connection.localDescription.sdp;
    },
    answer: async (sdp) => {
      await connection.setRemoteDescription({ type: 'offer', sdp });
      await connection.setLocalDescription(await connection.createAnswer());
      await gathered();
      return connection.localDescription.sdp;
    },
    accept: (sdp) => connection.setRemoteDescription({ type: 'answer', sdp }),
    press: (keys) => sender.dtmf.insertDTMF(keys, 100, 70),
    heard: async () => {
      const reports = [...(await connection.getStats()).values()];
      const find = (wanted) => reports.find(({ type, kind }) => type === wanted && kind === 'audio') ?? {};
      const transport = reports.find(({ type }) => type === 'transport') ?? {};
      const { packetsReceived = 0, totalAudioEnergy = 0, packetsLost = 0 } = find('inbound-rtp');
      const { fractionLost } = find('remote-inbound-rtp');
      const state = connection.connectionState;
      return { packetsReceived, packetsLost, totalAudioEnergy, fractionLost, dtlsState: transport.dtlsState, state };
    },
  };
};
`;

interface Heard {
  readonly packetsReceived: number;
  readonly packetsLost: number;
  readonly totalAudioEnergy: number;
  readonly fractionLost?: number;
  readonly dtlsState?: string;
  readonly state: string;
}

let browser: Browser;
before(async () => {
  const args = [...CHROMIUM_ARGS, '--autoplay-policy=no-user-gesture-required'];
  browser = await chromium.launch({ executablePath: installedChromium(), args });
});
after(() => browser.close());

async function callingPage(): Promise<Page> {
  const page = await browser.newPage();
  await page.addInitScript(CALLER);
  await page.goto('data:text/html,<title>caller</title>');
  await page.evaluate('openCall()');
  return page;
}

const heard = (page: Page) => page.evaluate<Heard>('call.heard()');

function negotiationOf(leg: SecuredLeg, offerIce = false): MediaNegotiation {
  const { port } = leg.socket;
  return new MediaNegotiation({
    policy: { ...POLICY, codecs: ['PCMU'], security: 'require', keyings: ['dtls'], offerIce },
    end: { ip4: LOOPBACK, port, rtcpPort: port + 1, fingerprints: [leg.fingerprint], ice: true },
    randomBytes: countingBytes(1),
  });
}

function termsOf({ keys, ice }: AgreedAudio): HandshakeTerms {
  assert.ok(keys.kind === 'dtls');
  const { setup, fingerprints, tlsId } = keys;
  return { setup, fingerprints, tlsId, ice };
}

function begin(leg: SecuredLeg, agreed: AgreedAudio): void {
  assert.equal(agreed.codec, 'PCMU');
  leg.begin(termsOf(agreed), agreed.send.codec, agreed.receive.telephoneEvent);
}

/** Both hear each other's tone, and keys pressed in the page arrive. */
async function talks(page: Page, leg: SecuredLeg): Promise<void> {
  const before = await heard(page);
  await until(async () => {
    const now = await heard(page);
    return (
      now.packetsReceived > before.packetsReceived + 50 &&
      now.totalAudioEnergy > before.totalAudioEnergy + 0.001
    );
  });
  const { packets } = leg.socket.stats();
  await until(() => leg.socket.stats().packets > packets + 50);
  await page.evaluate("call.press('42#')");
  await until(() => leg.digits.length >= 3);
  assert.equal(leg.digits.splice(0).join(''), '42#');
  assert.deepEqual(leg.failures, []);
  const { forged, unknownPayloads } = leg.socket.stats();
  assert.deepEqual({ forged, unknownPayloads }, { forged: 0, unknownPayloads: 0 });
}

interface Calling {
  readonly page: Page;
  readonly leg: SecuredLeg;
  readonly negotiation: MediaNegotiation;
}

async function withCall(
  portMin: number,
  work: (call: Calling) => Promise<void>,
  offerIce = false,
): Promise<void> {
  const page = await callingPage();
  const leg = new SecuredLeg({ portMin });
  try {
    await work({ page, leg, negotiation: negotiationOf(leg, offerIce) });
  } finally {
    leg.close();
    await page.close();
  }
}

const offerOf = (page: Page, options = {}) => page.evaluate<string>(`call.offer(${JSON.stringify(options)})`);
const accept = (page: Page, answer: string) => page.evaluate(`call.accept(${JSON.stringify(answer)})`);

/** The page calls, and both talk. */
async function callIn({ page, leg, negotiation }: Calling, options = {}): Promise<AgreedAudio> {
  const { answer, agreed } = valueOf(negotiation.answer(await offerOf(page, options)));
  assert.equal(agreed.direction, 'sendrecv');
  begin(leg, agreed);
  await accept(page, answer);
  await talks(page, leg);
  return agreed;
}

test('a browser that calls hears us and is heard', async () => {
  await withCall(42_000, async (call) => {
    await callIn(call);
    const { state, dtlsState, packetsLost, fractionLost } = await heard(call.page);
    // That it has a loss to tell means that our encrypted reports arrive, too.
    assert.deepEqual(
      { state, dtlsState, packetsLost, fractionLost },
      { state: 'connected', dtlsState: 'connected', packetsLost: 0, fractionLost: 0 },
    );
    assert.equal(call.leg.keys.length, 1);
    assert.equal(call.leg.nominated.length, 1);
    assert.ok((call.leg.handshake?.lastCheckMs ?? 0) > 0);
  });
});

test('a browser that has told no address yet finds us by its checks', async () => {
  await withCall(42_100, async (call) => {
    const { remote } = await callIn(call, { trickle: true });
    assert.deepEqual([remote.address, remote.port], ['0.0.0.0', 9]);
  });
});

test('a restart of ICE has new secrets, and the keys stay', async () => {
  await withCall(42_200, async (call) => {
    const { page, leg, negotiation } = call;
    const first = await callIn(call);
    const { answer, agreed, changes } = valueOf(
      negotiation.answer(await offerOf(page, { iceRestart: true })),
    );
    assert.ok(changes.has('ice') && !changes.has('keys'));
    assert.notEqual(agreed.ice?.localUfrag, first.ice?.localUfrag);
    leg.handshake?.renegotiate(termsOf(agreed));
    await accept(page, answer);
    await talks(page, leg);
    assert.equal((await heard(page)).state, 'connected');
    assert.equal(leg.keys.length, 1);
  });
});

test('a refresh of ours is answered by the browser, and nothing changes', async () => {
  await withCall(42_300, async (call) => {
    const { page, leg, negotiation } = call;
    await callIn(call);
    const offer = JSON.stringify(valueOf(negotiation.offer()));
    const { agreed, changes } = valueOf(
      negotiation.accept(await page.evaluate<string>(`call.answer(${offer})`)),
    );
    assert.deepEqual(
      [...changes].filter((change) => change === 'keys' || change === 'ice'),
      [],
    );
    leg.handshake?.renegotiate(termsOf(agreed));
    await talks(page, leg);
    assert.equal(leg.keys.length, 1);
  });
});

test('a browser that is called answers our offer', async () => {
  await withCall(
    42_400,
    async ({ page, leg, negotiation }) => {
      const offer = JSON.stringify(valueOf(negotiation.offer()));
      const { agreed } = valueOf(negotiation.accept(await page.evaluate<string>(`call.answer(${offer})`)));
      begin(leg, agreed);
      await talks(page, leg);
      assert.equal(agreed.keys.kind === 'dtls' && agreed.keys.setup, 'passive');
    },
    true,
  );
});

test('a browser whose certificate is not the announced one gets no keys', async () => {
  await withCall(42_500, async ({ page, leg, negotiation }) => {
    const offer = (await offerOf(page)).replace(/^(a=fingerprint:sha-256 )..:../gm, '$100:00');
    const { answer, agreed } = valueOf(negotiation.answer(offer));
    begin(leg, agreed);
    await accept(page, answer);
    await until(() => leg.failures.length > 0);
    assert.equal(leg.failures[0]?.code, 'FINGERPRINT_MISMATCH');
    assert.equal(leg.keys.length, 0);
    await until(async () => (await heard(page)).dtlsState === 'failed');
  });
});

test('a browser that hangs up ends the association', async () => {
  await withCall(42_600, async (call) => {
    await callIn(call);
    await call.page.evaluate('call.connection.close()');
    await until(() => call.leg.closedByPeer === 1);
    assert.deepEqual(call.leg.failures, []);
  });
});

// Delay between a caller's ACK and the greeting, which was rendered before the call. The call must wait for
// neither an engine nor an encoder.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../fakes/until.js';
import { callFrom, hangUp, offer, UdpCaller } from '../../telephone/raw-caller.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { g711Sound } from './rtp-record.js';
import { likenessSoFar, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const CODECS = 4; // that the greeting is kept in
const SENTENCES = 2;
const CALLS = 5;
const FRAME_MS = 20;
const SOON_MS = 2 * FRAME_MS; // to the first packet: the clock spreads calls over a frame
const LOUD = 0.02;

let server: TelephoneServer;

before(async () => {
  server = await TelephoneServer.start();
});
after(() => server.close());

async function figure(name: string): Promise<number> {
  const text = await (await fetch(`${server.server.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Milliseconds until it is loud. */
function onsetMs({ samples, rate }: Sound): number {
  return (1000 * samples.findIndex((sample) => Math.abs(sample) > LOUD)) / rate;
}

test('the first packet follows the ACK at once, and the greeting is in it', async (t) => {
  const greeting = await server.rendered(GREETING);
  for (let tries = 0; (await figure('parley_frame_cache_entries')) < CODECS * SENTENCES; tries++) {
    assert.ok(tries < 3000, 'the greeting is not made before somebody calls');
  }
  const misses = await figure('parley_frame_cache_misses_total');
  const waits: { readonly packetMs: number; readonly soundMs: number }[] = [];
  for (let call = 0; call < CALLS; call++) {
    const caller = await kept(t, UdpCaller.open(server.address));
    const rtp = await kept(t, RtpPeer.open());
    const standing = await callFrom(caller, { body: offer('127.0.0.1', rtp.port) });
    const ackMs = performance.now();
    await until(() => rtp.heard.length >= 50);
    const sound = { samples: g711Sound(rtp.heard), rate: 8000 };
    const packetMs = (rtp.heard[0]?.atMs ?? Infinity) - ackMs;
    waits.push({ packetMs, soundMs: packetMs + onsetMs(sound) - onsetMs(greeting) });
    assert.ok(likenessSoFar(sound, greeting).correlation > 0.93);
    await hangUp(caller, standing);
  }
  t.diagnostic(JSON.stringify(waits));
  // The least of several: what another program takes of the machine is not the server's.
  assert.ok(Math.min(...waits.map(({ packetMs }) => packetMs)) < SOON_MS, JSON.stringify(waits));
  assert.ok(Math.min(...waits.map(({ soundMs }) => soundMs)) < SOON_MS + FRAME_MS, JSON.stringify(waits));
  assert.equal(await figure('parley_frame_cache_misses_total'), misses, 'nothing was made for a caller');
});

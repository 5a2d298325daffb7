// Calls that go on through another port: everything real but the engine, the
// network and time.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { MediaPort } from '../../src/call/call.js';
import { EncoderPool } from '../../src/rtp/encoder-pool.js';
import { G722, OPUS, PCMA, PCMU, type Codec } from '../../src/rtp/codec.js';
import { FRAME_MS, openCall, type CallUnderTest, type SentPacket } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { alignments, heardOf, rising, RATE, sounding } from './heard-sound.js';

const SAID_MS = 3000;
const TEXT = 'A sentence of three seconds that is moved.';

let encoders: EncoderPool;
const opened: CallUnderTest[] = [];

before(async () => {
  encoders = new EncoderPool({ workers: 1 });
  await encoders.ready();
});
after(() => encoders.close());
afterEach(async () => {
  await Promise.all(opened.splice(0).map((call) => call.close()));
});

type Form = readonly [Codec, number];

function openIn([codec, frameMs]: Form): CallUnderTest {
  const under = openCall(encoders, undefined, { codec, frameMs });
  opened.push(under);
  return under;
}

/** As a re-INVITE does it: the same source goes on. */
function move(under: CallUnderTest, [codec, frameMs]: Form, from: MediaPort): MediaPort {
  const port = under.openPort(codec, frameMs, from);
  under.call.moveTo(port);
  from.playout.close();
  return port;
}

/** As much waits as the playout takes: nobody is behind. */
function ahead({ call }: CallUnderTest, ms: number): Promise<void> {
  return until(() => call.stats().queuedMs >= ms);
}

/** Speaks, moving to each form in turn after `stepMs`, and returns what left. */
async function spokenThrough(forms: readonly Form[], stepMs: number): Promise<SentPacket[]> {
  const [first, ...others] = forms;
  const under = openIn(first ?? assert.fail());
  under.engine.sounds.set(TEXT, rising(SAID_MS));
  const utterance = under.call.speak(TEXT);
  await ahead(under, 400);
  let port = under.port;
  let passed = 0;
  for (const form of others) {
    under.pass(stepMs);
    passed += stepMs;
    port = move(under, form, port);
    await ahead(under, Math.min(400, SAID_MS - passed));
  }
  await runOut(under, () => utterance.state === 'spoken');
  assert.equal((await utterance.ended).text, TEXT);
  assert.equal(under.call.stats().underruns, 0);
  return under.sent();
}

/** Time passes, never faster than the worker encodes. */
async function runOut(under: CallUnderTest, over: () => boolean): Promise<void> {
  for (let steps = 0; !over(); steps++) {
    assert.ok(steps < 1000, 'it never ends');
    under.pass(60);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function nameOf([codec, frameMs]: Form): string {
  return `${codec.name}/${frameMs}`;
}

const ROUTES: readonly (readonly Form[])[] = [
  [[PCMU, 20]],
  [[PCMU, 20], [PCMA, 20]],
  [[PCMU, 20], [PCMU, 30]],
  [[PCMU, 30], [PCMA, 20]],
  [[PCMU, 20], [G722, 20]],
  [[G722, 20], [PCMU, 20]],
  [[PCMU, 20], [OPUS, 20]],
  [[OPUS, 20], [PCMU, 20]],
  [[OPUS, 20], [OPUS, 60]],
  [[PCMU, 20], [OPUS, 20], [PCMU, 20]],
  [[PCMU, 20], [PCMA, 20], [PCMU, 30], [G722, 20]],
]; // prettier-ignore

for (const forms of ROUTES) {
  test(`a sentence that goes ${forms.map(nameOf).join(' to ')} is heard without a gap or a repetition`, async () => {
    const said = rising(SAID_MS);
    const heard = sounding(heardOf(await spokenThrough(forms, 500)));
    const longest = Math.max(...forms.map(([, frameMs]) => frameMs));
    assert.ok(Math.abs(heard.length - said.length) <= (longest * RATE) / 1000, `${heard.length} samples`);
    const found = alignments(heard, said);
    for (const { atMs, lagMs, likeness, gain } of found) {
      // Where a far end changes its decoder, one window holds the change.
      const atMove = forms.some((_, n) => n > 0 && Math.abs(atMs + 20 - 500 * n) <= 60);
      const what = `at ${atMs} ms: ${lagMs} ms late, likeness ${likeness.toFixed(3)}, gain ${gain.toFixed(2)}`;
      assert.ok(Math.abs(lagMs) <= 20, what);
      assert.ok(likeness > (atMove ? 0.6 : 0.97), what);
      assert.ok(gain > (atMove ? 0.6 : 0.9) && gain < 1.1, what);
    }
  });
}

test('sequence numbers and timestamps go on through a change of codec', async () => {
  const packets = await spokenThrough([[PCMU, 20], [PCMA, 20]], 500);
  for (const [n, packet] of packets.entries()) {
    assert.equal(packet.sequence, ((packets[0]?.sequence ?? 0) + n) % 65_536);
    assert.equal(packet.timestamp, ((packets[0]?.timestamp ?? 0) + 160 * n) % 2 ** 32);
  }
}); // prettier-ignore

void FRAME_MS;

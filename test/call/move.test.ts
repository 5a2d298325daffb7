// Calls that go on through another port: everything real but the engine, the
// network and time.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { MediaPort } from '../../src/call/call.js';
import type { Utterance } from '../../src/call/utterance.js';
import { EncoderPool } from '../../src/rtp/encoder-pool.js';
import { G722, OPUS, PCMA, PCMU, type Codec } from '../../src/rtp/codec.js';
import { openCall, type CallUnderTest, type SentPacket } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { alignments, heardOf, rising, RATE, sounding } from './heard-sound.js';

const SAID_MS = 3000;
const STEP_MS = 60;
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

/** Time that passes in a call, never faster than the worker encodes. */
class Passing {
  readonly #under: CallUnderTest;
  readonly #utterance: Utterance;
  #pushed = false;

  constructor(under: CallUnderTest, utterance: Utterance) {
    this.#under = under;
    this.#utterance = utterance;
    void utterance.pushed.then(() => (this.#pushed = true));
  }

  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      await until(() => this.#pushed || this.#under.call.stats().queuedMs >= 4 * STEP_MS);
      this.#under.pass(Math.min(STEP_MS, leftMs));
    }
  }

  /** To the end of the utterance. */
  async end(): Promise<void> {
    while (this.#utterance.state === 'waiting' || this.#utterance.state === 'speaking') {
      await this.pass(STEP_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Speaks, moving to each form in turn after `stepMs`, and returns what left. */
async function spokenThrough(forms: readonly Form[], stepMs: number): Promise<SentPacket[]> {
  const [first, ...others] = forms;
  const under = openIn(first ?? assert.fail());
  under.engine.sounds.set(TEXT, rising(SAID_MS));
  const utterance = under.call.speak(TEXT);
  const time = new Passing(under, utterance);
  let port = under.port;
  for (const form of others) {
    await time.pass(stepMs);
    port = move(under, form, port);
  }
  await time.end();
  const { text, end } = await utterance.ended;
  assert.deepEqual([text, end, under.call.stats().underruns], [TEXT, 'spoken', 0]);
  return under.sent();
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
      assert.ok(gain > (atMove ? 0.6 : 0.9) && gain < 1.1, what);
      assert.ok(likeness > (atMove ? 0.6 : 0.97), what);
      if (!atMove) assert.ok(Math.abs(lagMs) <= 20, what);
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

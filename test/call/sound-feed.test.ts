// A bot's sound on its way into a call: the call, its queue, encoder and playout are real.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SoundFeed } from '../../src/call/sound-feed.js';
import { G722, OPUS, PCMU } from '../../src/codecs/codec.js';
import { MU_LAW_VALUES } from '../../src/codecs/g711.js';
import { SoundStream } from '../../src/speaking/sound-stream.js';
import type { Utterance } from '../../src/call/utterance.js';
import { settle } from '../agents/handled-call.js';
import { type CallUnderTest, FRAME_MS, openCalls, type SentPacket } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';

const calls = openCalls();
const RATE = 8000;
const SILENCE = 0xff;

interface FeedUnderTest extends CallUnderTest {
  readonly feed: SoundFeed;
  readonly marked: string[];
  /** Pushes mu-law. */
  push(codes: Uint8Array): void;
  /** Resolves when the utterance that began last has its end in the playout. */
  pushed(): Promise<void> | undefined;
  /** Waits until so much sound is in the playout. */
  queued(ms: number): Promise<void>;
  /** Lets so many frames leave, and what they cause happen. */
  leave(frames: number): Promise<void>;
  count(type: string): number;
  /** Speaks in real time: words of 200 ms, each with a silence of 300 ms and a mark behind it. */
  speak(ms: number, say?: () => void): Promise<void>;
  /** The sound of this time comes at its end, at once. */
  stall(ms: number, say?: () => void): Promise<void>;
  /** Resolves when all that was pushed is in the playout, but for a part of a frame. */
  encoded(): Promise<void>;
  /** Mu-law of the words that were spoken so far. */
  readonly words: number[];
  /** Names of the marks that were sent so far. */
  readonly marks: string[];
}

const WORD_PIECES = 10;
const PIECES = 25;

function openFeed(options: Parameters<typeof calls.open>[1] = {}): FeedUnderTest {
  const under = calls.open(undefined, options);
  const marked: string[] = [];
  const { call, time } = under;
  let last: Utterance | undefined;
  /** Whole frames that the streams took, which the encoder passes on in its time. */
  let frames = 0;
  /** The same, before the last stream. */
  let before = 0;
  const feed = new SoundFeed({
    call: {
      play: (sound) => {
        before = frames;
        if (sound instanceof SoundStream) frames += countFrames(sound, (more) => (frames += more));
        return (last = call.play(sound));
      },
      observe: (observer) => call.observe(observer),
      interrupt: (reason) => call.interrupt(reason),
      stats: () => call.stats(),
      spoken: () => call.spoken(),
    },
    sampleRate: RATE,
    time,
    marked: (name) => void marked.push(name),
  });
  const push = (codes: Uint8Array) => feed.push(Int16Array.from(codes, (code) => MU_LAW_VALUES[code] ?? 0));
  const leave = async (frames: number) => {
    for (let frame = 0; frame < frames; frame++) {
      under.pass(FRAME_MS);
      await settle();
    }
  };
  const encoded = () =>
    until(() => {
      const { queuedMs, packets, silencePackets } = call.stats();
      const isHeldBack = frames - before <= 3;
      return packets - silencePackets + queuedMs / FRAME_MS >= (isHeldBack ? before : frames);
    });
  const [words, marks]: [number[], string[]] = [[], []];
  let pieces = 0;
  const piece = () => {
    const isWord = pieces++ % PIECES < WORD_PIECES;
    const codes = isWord ? noise(160, pieces) : new Uint8Array(160).fill(SILENCE);
    push(codes);
    if (isWord) words.push(...codes);
    if (pieces % PIECES !== 0) return;
    marks.push(`m${pieces}`);
    feed.mark(`m${pieces}`);
  };
  return {
    ...under,
    feed,
    marked,
    words,
    marks,
    push,
    pushed: () => last?.pushed,
    queued: (ms) => until(() => call.stats().queuedMs >= ms),
    leave,
    encoded,
    speak: async (ms, say = piece) => {
      for (let spoken = 0; spoken < ms; spoken += FRAME_MS) {
        say();
        await encoded();
        await leave(1);
      }
    },
    stall: async (ms, say = piece) => {
      await leave(ms / FRAME_MS);
      for (let spoken = 0; spoken < ms; spoken += FRAME_MS) say();
      await encoded();
    },
    count: (type) => under.events.filter((event) => event.type === type).length,
  };
}

/** Frames that the stream has, and calls `onMore` with those that it takes later. */
function countFrames(stream: SoundStream, onMore: (frames: number) => void): number {
  let samples = stream.waiting;
  const push = stream.push.bind(stream);
  stream.push = (more) => {
    const before = Math.floor(samples / 160);
    samples += more.length;
    onMore(Math.floor(samples / 160) - before);
    return push(more);
  };
  return Math.floor(samples / 160);
}

/** Loud mu-law codes, none of them silence; each seed has its own. */
function noise(samples: number, seed = 1): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length: samples }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state & 0x80) | (state % 100);
  });
}

function codesOf(packets: readonly SentPacket[]): Uint8Array {
  return Buffer.concat(packets.map(({ payload }) => payload));
}

function isSilent({ payload }: SentPacket): boolean {
  return payload.every((code) => code === SILENCE);
}

test('what is pushed is heard to the sample, however it was cut into chunks and by marks', async () => {
  const { feed, push, marked, queued, leave, sent } = openFeed();
  const sound = noise(8000);
  let at = 0;
  for (const [index, length] of [1, 159, 7, 480, 1000, 33, 6320].entries()) {
    push(sound.subarray(at, (at += length)));
    feed.mark(`m${index}`);
  }
  assert.equal(at, 8000);
  await queued(1000);
  sent();
  await leave(50);
  assert.deepEqual(codesOf(sent()), Buffer.from(sound));
  await until(async () => (await leave(1), marked.length > 6));
  assert.deepEqual(marked, ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6']);
});

test('a mark comes back with the packet that has the last sample before it, and not earlier', async () => {
  const { feed, push, marked, queued, leave } = openFeed();
  push(noise(4000));
  feed.mark('half');
  feed.mark('half again');
  push(noise(4000, 2));
  feed.mark('all');
  await queued(1000);
  await leave(24);
  assert.deepEqual(marked, []);
  await leave(1);
  assert.deepEqual(marked, ['half', 'half again']);
  feed.mark('later');
  await leave(24);
  assert.deepEqual(marked, ['half', 'half again']);
  await leave(1);
  await until(async () => (await leave(1), marked.length > 2));
  assert.deepEqual(marked, ['half', 'half again', 'all', 'later']);
});

test('a mark with nothing before it comes back at once', async () => {
  const { feed, push, marked, queued, pushed, leave } = openFeed();
  feed.mark('first');
  assert.deepEqual(marked, ['first']);
  push(noise(800));
  await queued(100);
  await leave(5);
  await pushed();
  await leave(1);
  await settle();
  feed.mark('second');
  assert.deepEqual(marked, ['first', 'second']);
});

test('clear silences within a frame, brings the marks back once, and makes no later mark late', async () => {
  const { feed, push, marked, queued, leave, sent } = openFeed();
  for (let second = 0; second < 20; second++) push(noise(RATE, second + 1));
  feed.mark('a');
  push(noise(800));
  feed.mark('b');
  await queued(1000);
  await leave(10);
  feed.clear('cleared');
  assert.deepEqual(marked, ['a', 'b']);
  sent();
  await leave(10);
  assert.ok(sent().every(isSilent));
  const next = noise(1600, 99);
  push(next);
  feed.mark('c');
  await queued(200);
  await leave(9);
  assert.deepEqual(marked, ['a', 'b']);
  await leave(1);
  await until(async () => (await leave(1), marked.length > 2));
  assert.deepEqual(marked, ['a', 'b', 'c']);
  const heard = codesOf(sent());
  assert.deepEqual(heard.subarray(0, next.length), Buffer.from(next));
  assert.ok(heard.subarray(next.length).every((code) => code === SILENCE));
});

test('a bot that falls silent leaves the call quiet without an underrun, and goes on when it speaks', async () => {
  const { push, queued, pushed, leave, sent, call, count } = openFeed();
  push(noise(1600));
  await queued(200);
  await leave(7);
  await pushed(); // three frames before the last one
  await leave(3);
  sent();
  await leave(100);
  assert.ok(sent().every(isSilent));
  assert.deepEqual([count('utterance.spoken'), call.stats().underruns], [1, 0]);
  const more = noise(1600, 5);
  push(more);
  await queued(200);
  await leave(10);
  assert.deepEqual(codesOf(sent()), Buffer.from(more));
});

test('a pause of a bot while its sound is still playing is no end: the utterance goes on', async () => {
  const { push, queued, pushed, leave, sent, count } = openFeed();
  const sound = noise(9600);
  push(sound.subarray(0, 8000));
  await queued(1000);
  sent();
  await leave(40);
  push(sound.subarray(8000));
  await queued(400);
  await leave(17);
  await pushed();
  await leave(2);
  assert.deepEqual([count('utterance.started'), count('utterance.spoken')], [1, 0]);
  await leave(1);
  assert.deepEqual(codesOf(sent()), Buffer.from(sound));
  assert.deepEqual([count('utterance.started'), count('utterance.spoken')], [1, 1]);
});

test('a sound shorter than what a talkspurt holds back is heard all the same, with its mark', async () => {
  const { feed, push, marked, pushed, leave, sent } = openFeed();
  push(noise(100));
  feed.mark('short');
  await leave(2);
  assert.ok(sent().every(isSilent));
  await leave(1);
  await pushed();
  await leave(1);
  await until(() => marked.length > 0);
  const heard = codesOf(sent().filter((packet) => !isSilent(packet)));
  assert.deepEqual(heard, Buffer.concat([noise(100), Buffer.alloc(60, SILENCE)]));
  assert.deepEqual(marked, ['short']);
});

test('after a gap by jitter, speech in real time begins later, and bridges the next gap', async () => {
  const { push, pushed, queued, leave, sent, count } = openFeed();
  const sound = noise(16_000);
  let at = 0;
  const say = () => push(sound.subarray(at, (at += 160)));
  for (let chunk = 0; chunk < 3; chunk++) say();
  await queued(60);
  await leave(4); // a gap of 80 ms: more than the 60 ms in hand
  await pushed();
  await until(async () => (await leave(1), count('utterance.spoken') === 1));
  sent();
  for (let chunk = 0; chunk < 2; chunk++) {
    say();
    await leave(1);
  }
  assert.ok(sent().every(isSilent));
  for (let chunk = 0; chunk < 2; chunk++) say();
  await queued(80);
  await leave(4);
  const heard = codesOf(sent().filter((packet) => !isSilent(packet)));
  assert.deepEqual(heard, Buffer.from(sound.subarray(480, 480 + 640)));
});

test('after a stall the sound is in time again within seconds; every word and mark is there in its order', async () => {
  const { speak, stall, feed, call, words, marks, marked, sent, leave } = openFeed();
  sent();
  await speak(2000);
  await stall(500);
  assert.ok(call.stats().queuedMs >= 440);
  await speak(4000);
  assert.ok(call.stats().queuedMs <= 160, `${call.stats().queuedMs} ms wait`);
  await speak(4000);
  void feed.played();
  await until(async () => (await leave(1), marked.length === marks.length));
  assert.deepEqual(marked, marks);
  const heard = [...codesOf(sent())].filter((code) => code !== SILENCE);
  assert.deepEqual(heard, words);
});

test('a bot that speaks without a silence is in time again after a stall', async () => {
  const { push, speak, stall, call } = openFeed();
  const tone = Uint8Array.from({ length: 160 }, (_, n) => (n % 40 < 20 ? 0x10 : 0x90));
  const say = () => push(tone);
  await speak(1000, say);
  assert.ok(call.stats().queuedMs <= 60, `${call.stats().queuedMs} ms wait at first`);
  await stall(500, say);
  await speak(4500, say);
  assert.ok(call.stats().queuedMs <= 160, `${call.stats().queuedMs} ms wait`);
});

test('an answer that comes at once after a pause keeps its silences', async () => {
  const { push, queued, leave, speak, sent, feed, call } = openFeed();
  await speak(1000);
  await leave(100);
  sent();
  const answer = Buffer.concat([noise(4000), Buffer.alloc(4000, SILENCE), noise(4000, 2), noise(480, 3)]);
  for (let at = 0; at < answer.length; at += 160) push(answer.subarray(at, at + 160));
  await queued(1000);
  await leave(10);
  await until(() => call.stats().queuedMs >= 1300); // the rest of it
  await leave(62);
  await until(() => call.stats().queuedMs >= 120); // the last frames, which the end of the spurt lets go
  let isPlayed = false;
  void feed.played().then(() => (isPlayed = true));
  await until(async () => (await leave(1), isPlayed));
  const heard = codesOf(sent());
  const from = heard.findIndex((code) => code !== SILENCE);
  assert.deepEqual(heard.subarray(from, from + answer.length), answer);
});

test('what a bot says right after a clear is not held back', async () => {
  const { feed, push, queued, leave } = openFeed();
  push(noise(8000));
  await queued(1000);
  await leave(5);
  feed.clear('cleared');
  for (let chunk = 0; chunk < 3; chunk++) push(noise(160, chunk + 1));
  await queued(60);
});

test('ten minutes may wait; more is refused whole, and taken again after a clear', async () => {
  const { feed, push, marked, queued } = openFeed();
  const minute = noise(60 * RATE);
  for (let n = 0; n < 10; n++) push(minute);
  assert.ok(Math.abs(feed.waitingSeconds - 600) < 10);
  assert.throws(() => push(minute), { code: 'QUEUE_FULL', message: /10 minutes/ });
  feed.mark('end');
  feed.clear('cleared');
  assert.deepEqual([feed.waitingSeconds, marked], [0, ['end']]);
  push(minute);
  await queued(1000);
});

test('more marks than the bound are refused by name, and those that wait come back', async () => {
  const { feed, push, marked } = openFeed();
  push(noise(RATE));
  for (let n = 0; n < 1000; n++) feed.mark(`m${n}`);
  assert.throws(() => feed.mark('one more'), { code: 'QUEUE_FULL', field: 'mark' });
  feed.clear('cleared');
  assert.equal(marked.length, 1000);
});

test('sound that comes while too many texts wait in the call is heard behind them', async () => {
  const { call, feed, push, marked, leave, sent } = openFeed();
  const texts = Array.from({ length: 4 }, () => call.speak('Hi.'));
  assert.throws(() => call.speak('Hi.'), { code: 'QUEUE_FULL' });
  const sound = noise(1600, 3);
  push(sound);
  feed.mark('heard');
  await Promise.all(texts.map(({ pushed }) => pushed));
  await until(async () => (await leave(1), marked.length > 0));
  const heard = codesOf(sent().filter((packet) => !isSilent(packet)));
  assert.deepEqual(heard.subarray(-1600), Buffer.from(sound));
});

test('sound that waits for its turn in a full call is dropped by a clear, and its marks come back', async () => {
  const { call, feed, push, marked } = openFeed();
  for (let n = 0; n < 4; n++) call.speak('Hi.');
  push(noise(1600));
  feed.mark('dropped');
  feed.clear('cleared');
  assert.deepEqual(marked, ['dropped']);
  await feed.played();
});

test('an interruption by somebody else brings the marks back, and the next sound is heard', async () => {
  const { call, feed, push, marked, queued, leave, sent } = openFeed();
  push(noise(RATE));
  feed.mark('cut');
  await queued(900);
  call.interrupt('transfer');
  assert.deepEqual(marked, ['cut']);
  sent();
  push(noise(1600, 4));
  await queued(200);
  await leave(10);
  assert.deepEqual(codesOf(sent()), Buffer.from(noise(1600, 4)));
});

test('played resolves when the last packet has left, and close leaves no timer', async () => {
  const { feed, push, pushed, leave, time } = openFeed();
  let isPlayed = false;
  push(noise(1600));
  void feed.played().then(() => (isPlayed = true));
  await pushed();
  await leave(9);
  assert.equal(isPlayed, false);
  await leave(1);
  assert.equal(isPlayed, true);
  push(noise(1600));
  feed.close();
  assert.equal(time.waiting, 0);
});

test('a call that ends ends the sound with it', async () => {
  const { call, feed, push, marked } = openFeed();
  push(noise(20 * RATE));
  feed.mark('never sent');
  await call.close('hung up');
  assert.deepEqual(marked, ['never sent']);
  assert.throws(() => push(noise(160)), { code: 'CALL_CLOSED' });
});

for (const codec of [G722, OPUS, PCMU]) {
  test(`a mark after each chunk makes no seam in ${codec.name}`, async () => {
    const [plain, marked] = [openFeed({ codec }), openFeed({ codec })];
    const sound = noise(4000);
    for (let at = 0; at < 4000; at += 160) {
      plain.push(sound.subarray(at, at + 160));
      marked.push(sound.subarray(at, at + 160));
      marked.feed.mark(String(at));
    }
    for (const under of [plain, marked]) {
      void under.feed.played();
      await under.pushed();
      await under.leave(25);
    }
    assert.deepEqual(codesOf(marked.sent()), codesOf(plain.sent()));
    await until(() => marked.marked.length === 25);
  });
}

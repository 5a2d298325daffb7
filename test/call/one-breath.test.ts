// Calls in which one generation speaks a whole utterance: everything real but
// the engine, the network and time. The engine speaks at the pace that places
// are estimated by, so that they are exact here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { Continuity } from '../../src/speaking/continuity.js';
import { FrameCache } from '../../src/speaking/frame-cache.js';
import type { Utterance } from '../../src/call/utterance.js';
import { type CallUnderTest, FRAME_MS, HIGH_MS, LOW_MS, openCalls } from '../fakes/call-under-test.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { ScriptedEngine, StreamingEngine, type StreamingEngineOptions } from '../fakes/engines.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';

const TEXT = 'One is here. Two is there. Three is far away.';
const SENTENCES = ['One is here.', 'Two is there.', 'Three is far away.'];
const MS_PER_CHARACTER = 65;

const calls = openCalls();

function openCall(options: StreamingEngineOptions = {}, frames?: FrameCache) {
  const engine = new StreamingEngine(options);
  const under = calls.open(frames, { engine, continuity: new Continuity('utterance') });
  return { ...under, engine };
}

interface Playing {
  /** Frames. */
  readonly most?: number;
  /**
   * Frames leave only from a full queue, until the encoder is asked for more: a mark is set a moment after
   * its frame.
   */
  readonly fromFull?: boolean;
  /** Called before each frame leaves. */
  readonly leaves?: () => void;
}

/** Lets frames leave as they come, until so many have left or it has ended; answers how many. */
async function play(
  { call, port, pass }: CallUnderTest,
  utterance: Utterance,
  { most = Infinity, fromFull = false, leaves = () => undefined }: Playing = {},
): Promise<number> {
  let over = false;
  let pushed = false;
  void utterance.ended.then(() => (over = true));
  void utterance.pushed.then(() => (pushed = true));
  const sent = () => port.playout.sent(utterance.number);
  const before = sent();
  let fills = fromFull;
  await until(() => {
    if (over || sent() - before >= most) return true;
    const { queuedMs } = call.stats();
    if (queuedMs >= HIGH_MS || pushed) fills = false;
    else if (fromFull && queuedMs < LOW_MS) fills = true;
    if (fills || (!pushed && queuedMs === 0)) return false;
    if (queuedMs > 0) leaves();
    pass(FRAME_MS); // the end of all is behind the last frame
    return false;
  });
  return sent() - before;
}

/** Tells the events of sentences with the number of frames that had left. */
async function eventsOf(under: CallUnderTest, utterance: Utterance): Promise<string[]> {
  const reported: string[] = [];
  let frames = 0;
  under.call.observe((event) => {
    if ('sentence' in event) reported.push(`${event.type} ${event.sentence} at ${frames}: ${event.text}`);
  });
  await play(under, utterance, { fromFull: true, leaves: () => frames++ });
  return reported;
}

const EVENTS = [
  'sentence.started 0 at 1: One is here.',
  'sentence.spoken 0 at 39: One is here.',
  'sentence.started 1 at 40: Two is there.',
  'sentence.spoken 1 at 85: Two is there.', // 26 characters of 65 ms: both have a part of the frame
  'sentence.started 2 at 85: Three is far away.',
  'sentence.spoken 2 at 147: Three is far away.',
];

test('a text that is there whole is one generation without pauses, and its sentences are reported in order', async () => {
  const under = openCall();
  const utterance = under.call.speak(TEXT);
  assert.deepEqual(await eventsOf(under, utterance), EVENTS);
  assert.deepEqual(under.engine.texts, [TEXT]);
  assert.equal(under.engine.generations[0]?.request.text, TEXT);
  assert.equal(under.engine.generations[0]?.request.more, undefined);
  const durationMs = Math.ceil((TEXT.length * MS_PER_CHARACTER) / FRAME_MS) * FRAME_MS;
  assert.deepEqual(await utterance.ended, { end: 'spoken', text: TEXT, durationMs });
});

test('text that comes while it is spoken is spoken on by the same generation', async () => {
  const under = openCall();
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  tokens.push('One is here. Two');
  await until(() => under.engine.generations[0]?.state === 'starved');
  assert.deepEqual(under.engine.texts, ['One is here.']);
  const heard = eventsOf(under, utterance);
  tokens.push(' is there. Three is');
  await until(() => under.engine.texts[0] === 'One is here. Two is there.');
  tokens.push(' far away.');
  tokens.end();
  assert.deepEqual(await heard, EVENTS);
  assert.deepEqual(under.engine.texts, [TEXT]);
  assert.equal(under.engine.generations[0]?.request.text, 'One is here.');
  assert.equal((await utterance.ended).text, TEXT);
});

test('an engine that reads faster than it speaks has its text before its sound is taken', async () => {
  const under = openCall({ share: 0.25 });
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  for (const token of TEXT.split(/(?<= )/)) tokens.push(token);
  await until(() => under.engine.texts[0] === 'One is here. Two is there.');
  tokens.end();
  await play(under, utterance);
  assert.deepEqual(under.engine.texts, [TEXT]);
  assert.equal((await utterance.ended).text, TEXT);
});

test('the generation waits while the text pauses, without an underrun', async () => {
  const under = openCall();
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  tokens.push('One is here. Two');
  assert.equal(await play(under, utterance, { most: 38 }), 38);
  // The worker has heard by now that the text pauses: what another call has it do comes after.
  await openCall().call.speak('Bye.').pushed;
  under.pass(2000);
  assert.equal(under.engine.generations[0]?.state, 'starved');
  tokens.push(' is there. Three is far away.');
  tokens.end();
  await play(under, utterance);
  assert.equal((await utterance.ended).text, TEXT);
  assert.equal(under.call.stats().underruns, 0);
  assert.deepEqual(under.engine.texts, [TEXT]);
});

for (const [frames, heard] of [
  [10, 'One'], // 200 of 780 ms
  [39, 'One is here.'],
  [60, 'One is here. Two is'], // 420 of 910 ms
  [100, 'One is here. Two is there. Three'],
] as const) {
  test(`after ${frames} frames of one generation "${heard}" was spoken, and nothing of it reaches the next text`, async () => {
    const under = openCall();
    const utterance = under.call.speak(TEXT);
    await play(under, utterance, { most: frames });
    const { text } = under.call.interrupt('enough');
    assert.equal(text, heard);
    assert.equal((await utterance.ended).text, heard);
    await until(() => under.engine.generations.every(({ state }) => state === 'over'));
    under.events.length = 0;
    const next = under.call.speak('Bye.');
    await play(under, next);
    assert.deepEqual(await next.ended, { end: 'spoken', text: 'Bye.', durationMs: 260 });
    assert.ok(under.events.every((event) => 'utterance' in event && event.utterance === next.number));
  });
}

test('a generation that waits for text ends with the interruption, and its producer is notified', async () => {
  const under = openCall();
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  tokens.push('One is here. Two is there. Three');
  await until(() => under.engine.texts[0] === 'One is here. Two is there.');
  await play(under, utterance, { most: 50 });
  assert.equal(under.call.interrupt('enough').text, 'One is here. Two');
  await until(() => tokens.returned && under.engine.generations[0]?.state === 'over');
  assert.deepEqual(under.engine.texts, ['One is here. Two is there.']);
});

test('a producer that falls silent is given up after its own time; what was said of it is heard', async () => {
  const under = openCall();
  const tokens = new TokenSource();
  const utterance = under.call.speak(tokens);
  tokens.push('One is here. Two is there. Three');
  await until(() => under.engine.texts[0] === 'One is here. Two is there.');
  under.time.advance(9999);
  assert.equal(under.engine.generations[0]?.state, 'starved');
  under.time.advance(1);
  await play(under, utterance);
  const { end, text, error } = await utterance.ended;
  assert.deepEqual([end, text, error?.code], ['failed', 'One is here. Two is there.', 'TIMEOUT']);
  assert.equal(under.engine.generations[0]?.state, 'over');
});

test('a change of language begins a new generation, and so does a text without room for more', async () => {
  const french = 'Voici une phrase en français, et elle est assez longue pour cela.';
  const under = openCall();
  const utterance = under.call.speak(`One is here. Two is there. ${french}`);
  await play(under, utterance);
  assert.deepEqual(under.engine.texts, ['One is here. Two is there.', french]);
  assert.deepEqual(
    under.engine.generations.map(({ request }) => request.language),
    ['en', 'fr'],
  );
  for (const text of [TEXT, null]) {
    const short = openCall({ mostText: 30 });
    const tokens = new TokenSource();
    tokens.push(TEXT);
    tokens.end();
    const spoken = short.call.speak(text ?? tokens);
    await play(short, spoken);
    assert.deepEqual(short.engine.texts, ['One is here. Two is there.', 'Three is far away.']);
    assert.equal((await spoken.ended).text, TEXT);
    // The pause between two sentences is there where two generations meet.
    const soundMs = (TEXT.length - 1) * MS_PER_CHARACTER;
    assert.equal((await spoken.ended).durationMs, Math.ceil((soundMs + 160) / FRAME_MS) * FRAME_MS);
  }
});

test('a sentence that was kept is played, and begins a new generation; those of a run are not kept', async () => {
  const frames = new FrameCache(1_000_000, calls.encoders.settings);
  const alone = calls.open(frames, { engine: new StreamingEngine() });
  await play(alone, alone.call.speak('Two is there.'));
  await until(() => frames.figures.entries === 1);
  const under = openCall({}, frames);
  const utterance = under.call.speak(`Zero is first. ${TEXT} Four is last.`);
  await play(under, utterance);
  assert.deepEqual(under.engine.texts, ['Zero is first. One is here.', 'Three is far away. Four is last.']);
  assert.equal((await utterance.ended).text, `Zero is first. ${TEXT} Four is last.`);
  assert.equal(frames.figures.entries, 1);
  const tokens = new TokenSource();
  tokens.push(TEXT);
  tokens.end();
  await play(under, under.call.speak(tokens));
  assert.deepEqual(under.engine.texts.slice(2), ['One is here.', 'Three is far away.']);
  assert.equal(frames.figures.entries, 1);
  // An utterance of one sentence is what it is in any case.
  await play(under, under.call.speak('A sentence by itself.'));
  await until(() => frames.figures.entries === 2);
});

test('an engine that fails in the middle fails the text after what was made of it', async () => {
  const under = openCall();
  under.engine.failsAt = 'Two';
  const tokens = new TokenSource();
  const reported = await rejectionsOf(async () => {
    const utterance = under.call.speak(tokens);
    tokens.push('One is here. Two is there. And three');
    // The text has not ended, but nothing waits for it any more.
    await play(under, utterance);
    const { end, text, error } = await utterance.ended;
    assert.deepEqual([end, error?.code], ['failed', 'ENGINE_FAILED']);
    assert.equal(text, 'One is here. Two is there.');
  });
  assert.deepEqual(reported, []);
  await until(() => tokens.returned);
});

test('an event of a call tells what a failure of the engine means, and the log has its words', async () => {
  const under = openCall();
  const message = 'flite ended: cannot read /srv/models/voice.bin';
  under.engine.gate = () => Promise.reject(new ParleyError('ENGINE_FAILED', message));
  await play(under, under.call.speak('One.'));
  const told = { code: 'ENGINE_FAILED', message: 'the speech engine failed at this text' };
  const failures = under.events.flatMap((event) => (event.type === 'utterance.failed' ? [event.error] : []));
  assert.deepEqual(failures, [told]);
  const lines = under.log.filter((line) => line.startsWith('utterance failed'));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"detail":"flite ended: cannot read \/srv\/models\/voice\.bin"/);
});

test('an engine that takes no further text never gets any, and CONTINUITY=sentence gives none', async () => {
  const plain = calls.open(undefined, { continuity: new Continuity('utterance') });
  await play(plain, plain.call.speak(TEXT));
  assert.deepEqual(plain.engine.begun, SENTENCES);
  assert.ok(plain.engine instanceof ScriptedEngine);
  const engine = new StreamingEngine();
  const apart = calls.open(undefined, { engine, continuity: new Continuity('sentence') });
  await play(apart, apart.call.speak(TEXT));
  assert.deepEqual(engine.texts, SENTENCES);
  assert.ok(engine.generations.every(({ request }) => request.more === undefined));
});

test('a call that ends while a generation waits for text leaves nothing behind', async () => {
  const under = openCall();
  const tokens = new TokenSource();
  under.call.speak(tokens);
  tokens.push('One is here. Two');
  await until(() => under.engine.generations[0]?.state === 'starved');
  await under.call.close('test over');
  await until(() => tokens.returned && under.engine.generations[0]?.state === 'over');
  assert.equal(
    calls.encoders.sessions.every((sessions) => sessions === 0),
    true,
  );
  assert.equal(under.time.waiting, 0);
});

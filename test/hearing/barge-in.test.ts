import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BargeIn } from '../../src/hearing/barge-in.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';

const TRACK = { track: 3, by: 'speech' } as const;

/** `playing` is the track that plays; the fades are noted. */
function bargeIn(settings: Partial<HearingSettings> = {}, playing: number | undefined = 3) {
  const fades: number[] = [];
  const state: { playing: number | undefined } = { playing };
  const decision = new BargeIn({ ...HEARING_SETTINGS, ...settings }, (track) => {
    if (track !== state.playing) return false;
    fades.push(track);
    state.playing = undefined;
    return true;
  });
  decision.interruptible([TRACK], 0);
  return { decision, fades, state };
}

test('the onset of speech fades the voice, and speech of 250 ms confirms', () => {
  const { decision, fades } = bargeIn();
  assert.deepEqual(decision.started(936, 1000), {
    type: 'bargein.paused',
    track: 3,
    onsetMs: 936,
    atMs: 1000,
  });
  assert.deepEqual(fades, [3]);
  assert.equal(decision.advance(249, 1185), undefined);
  assert.deepEqual(decision.advance(250, 1186), { type: 'bargein.confirmed', track: 3, atMs: 1186 });
  assert.equal(decision.advance(2000, 3000), undefined);
  assert.equal(decision.stopped(2000, 3100), undefined);
  assert.deepEqual(fades, [3]);
});

test('where turns are ended by hand, speech interrupts nothing', () => {
  const { decision, fades } = bargeIn({ endedByHand: true });
  assert.equal(decision.started(936, 1000), undefined);
  assert.equal(decision.advance(5000, 6000), undefined);
  assert.deepEqual(fades, []);
});

test('a noise that ends is a false barge-in at once', () => {
  const { decision } = bargeIn();
  decision.started(936, 1000);
  assert.deepEqual(decision.stopped(120, 1200), {
    type: 'bargein.false',
    track: 3,
    atMs: 1200,
    speechMs: 120,
  });
  assert.equal(decision.advance(0, 5000), undefined);
});

test('a noise that neither ends nor becomes long enough resumes the voice after resumeMs, and pauses it no more', () => {
  const { decision, fades, state } = bargeIn({ resumeMs: 500 });
  decision.started(936, 1000);
  assert.equal(decision.advance(100, 1499), undefined);
  assert.deepEqual(decision.advance(100, 1500), {
    type: 'bargein.false',
    track: 3,
    atMs: 1500,
    speechMs: 100,
  });
  state.playing = 3;
  assert.equal(decision.advance(900, 2300), undefined);
  assert.equal(decision.stopped(900, 2500), undefined);
  assert.deepEqual(fades, [3]);
  assert.equal(decision.started(4000, 4064)?.type, 'bargein.paused', 'the next sound pauses again');
});

test('nothing is paused where no track may be interrupted, or another one plays', () => {
  const none = bargeIn();
  none.decision.interruptible([], 0);
  assert.equal(none.decision.started(0, 64), undefined);
  assert.deepEqual(none.fades, []);
  const other = bargeIn({}, 4);
  assert.equal(other.decision.started(0, 64), undefined);
  assert.deepEqual(other.fades, []);
});

test('of several tracks the one that plays is paused', () => {
  const { decision } = bargeIn({}, 5);
  decision.interruptible([TRACK, { track: 4, by: 'any' }, { track: 5, by: 'any' }], 0);
  assert.equal(decision.started(0, 64)?.track, 5);
});

test('an utterance that begins while the caller speaks is paused, too', () => {
  const { decision, state } = bargeIn();
  state.playing = undefined;
  assert.equal(decision.started(0, 64), undefined);
  assert.equal(decision.advance(400, 464), undefined);
  state.playing = 3;
  assert.equal(decision.advance(432, 496)?.type, 'bargein.paused');
  assert.equal(decision.advance(464, 528)?.type, 'bargein.confirmed');
});

test('a paused track that may be interrupted no more ends its pause', () => {
  const { decision } = bargeIn();
  decision.started(936, 1000);
  assert.equal(decision.interruptible([TRACK], 1010), undefined);
  assert.deepEqual(decision.interruptible([], 1020), {
    type: 'bargein.false',
    track: 3,
    atMs: 1020,
    speechMs: 64,
  });
  assert.equal(decision.advance(1000, 2000), undefined);
});

for (const [sensitivity, ignoreBackchannel, neededMs] of [
  ['high', false, 250],
  ['medium', false, 375],
  ['low', false, 500],
  ['high', true, 700],
  ['low', true, 700],
] as const) {
  test(`${sensitivity} sensitivity, backchannels ${ignoreBackchannel ? 'ignored' : 'heard'}: ${neededMs} ms interrupt`, () => {
    const { decision } = bargeIn({ sensitivity, ignoreBackchannel });
    decision.started(0, 64);
    assert.equal(decision.advance(neededMs - 1, 2000), undefined);
    assert.equal(decision.advance(neededMs, 2001)?.type, 'bargein.confirmed');
  });
}

test('short words of one turn add up to an interruption where no words will be known', () => {
  const { decision, fades, state } = bargeIn({ ignoreBackchannel: true });
  let atMs = 1000;
  const types: (string | undefined)[] = [];
  for (const before of [0, 220, 440]) {
    types.push(decision.started(atMs, atMs + 64)?.type);
    types.push(decision.stopped(220, atMs + 400, before + 220)?.type);
    state.playing = 3;
    atMs += 600;
  }
  types.push(decision.started(atMs, atMs + 64)?.type, decision.advance(40, atMs + 104, 700)?.type);
  const once = ['bargein.paused', 'bargein.false'];
  assert.deepEqual(types, [...once, ...once, ...once, 'bargein.paused', 'bargein.confirmed']);
  assert.deepEqual(fades, [3, 3, 3, 3]);
});

test('where words will be known, a short word leaves the voice paused until they are, or resumeMs are over', () => {
  const { decision, fades } = bargeIn({ ignoreBackchannel: true });
  decision.awaitWords(true, 0);
  decision.started(936, 1000);
  assert.equal(decision.stopped(300, 1436), undefined);
  assert.equal(decision.advance(0, 2000), undefined);
  assert.deepEqual(decision.dismiss(2010), {
    type: 'bargein.false',
    track: 3,
    atMs: 2010,
    speechMs: 300,
  });
  assert.equal(decision.dismiss(2020), undefined);
  assert.deepEqual(fades, [3]);
  const late = bargeIn({ ignoreBackchannel: true, resumeMs: 1500 });
  late.decision.awaitWords(true, 0);
  late.decision.started(936, 1000);
  assert.equal(late.decision.stopped(300, 1436), undefined);
  assert.equal(late.decision.advance(0, 2499), undefined);
  assert.equal(late.decision.advance(0, 2500)?.type, 'bargein.false');
});

test('where words will be known, short words do not add up, and one long stretch interrupts as ever', () => {
  const { decision, fades } = bargeIn({ ignoreBackchannel: true });
  decision.awaitWords(true, 0);
  decision.started(1000, 1064);
  assert.equal(decision.stopped(400, 1600, 400), undefined);
  assert.equal(decision.started(1700, 1764), undefined);
  assert.equal(decision.stopped(400, 2300, 800), undefined);
  assert.equal(decision.started(2400, 2464), undefined);
  assert.equal(decision.dismiss(2470), undefined, 'the caller speaks again');
  assert.equal(decision.advance(700, 2990, 1500)?.type, 'bargein.confirmed');
  assert.deepEqual(fades, [3]);
});

test('behind a word that is too short for a turn the voice waits for 256 ms, in which the next one may come', () => {
  const { decision, fades } = bargeIn({ ignoreBackchannel: true });
  decision.awaitWords(true, 0);
  decision.started(936, 1000);
  assert.equal(decision.stopped(200, 1300), undefined);
  assert.equal(decision.advance(0, 1555), undefined);
  assert.equal(decision.started(1500, 1555), undefined);
  assert.equal(decision.stopped(200, 1900), undefined);
  assert.equal(decision.advance(0, 2155), undefined);
  assert.equal(decision.advance(0, 2156)?.type, 'bargein.false');
  assert.deepEqual(fades, [3]);
});

test('where no words will be known, the voice goes on at once behind a short sound', () => {
  const { decision } = bargeIn({ ignoreBackchannel: true });
  decision.started(936, 1000);
  assert.equal(decision.stopped(200, 1300)?.type, 'bargein.false');
});

const IGNORED = { type: 'bargein.false', track: 3, isDistant: true } as const;

test('a voice too weak for the caller pauses ours until it would interrupt, and then no more in this turn', () => {
  const { decision, fades, state } = bargeIn();
  decision.started(936, 1000);
  decision.isDistant = true;
  assert.deepEqual(decision.advance(250, 1186), { ...IGNORED, atMs: 1186, speechMs: 250 });
  assert.equal(decision.isIgnored, true);
  state.playing = 3;
  assert.equal(decision.stopped(300, 1400), undefined);
  assert.equal(decision.started(1500, 1564), undefined);
  assert.equal(decision.advance(900, 2400), undefined);
  assert.deepEqual(fades, [3]);
});

test('the words of a voice too weak for the caller are not waited for', () => {
  const { decision } = bargeIn({ ignoreBackchannel: true });
  decision.awaitWords(true, 0);
  decision.started(936, 1000);
  decision.isDistant = true;
  assert.deepEqual(decision.stopped(300, 1364), { ...IGNORED, atMs: 1364, speechMs: 300 });
});

test('a caller who speaks into a distant voice interrupts with speech of 250 ms', () => {
  const { decision, fades, state } = bargeIn();
  decision.started(936, 1000);
  decision.isDistant = true;
  decision.advance(250, 1186);
  state.playing = 3;
  decision.isDistant = false;
  assert.equal(decision.advance(282, 1218)?.type, 'bargein.paused');
  assert.equal(decision.advance(499, 1435), undefined);
  assert.equal(decision.advance(500, 1436)?.type, 'bargein.confirmed');
  assert.deepEqual(fades, [3, 3]);
});

test('without `ignoreDistant` any voice interrupts', () => {
  const { decision } = bargeIn({ ignoreDistant: false });
  decision.started(936, 1000);
  decision.isDistant = true;
  assert.equal(decision.advance(250, 1186)?.type, 'bargein.confirmed');
});

test('a voice that waits for words goes on when none will be known any more', () => {
  const { decision } = bargeIn({ ignoreBackchannel: true });
  decision.awaitWords(true, 0);
  decision.started(936, 1000);
  decision.stopped(300, 1436);
  assert.equal(decision.awaitWords(false, 1500)?.type, 'bargein.false');
});

test('what may be a word pauses the voice, and speech within 256 ms goes on from there', () => {
  const { decision, fades } = bargeIn();
  assert.deepEqual(decision.suspected(936, 1000), {
    type: 'bargein.paused',
    track: 3,
    onsetMs: 936,
    atMs: 1000,
  });
  assert.equal(decision.suspected(936, 1032), undefined);
  assert.equal(decision.advance(0, 1255), undefined);
  assert.equal(decision.started(1192, 1256), undefined, 'it is paused already');
  assert.equal(decision.advance(249, 1441), undefined);
  assert.deepEqual(decision.advance(250, 1442), { type: 'bargein.confirmed', track: 3, atMs: 1442 });
  assert.deepEqual(fades, [3]);
});

test('without speech the voice goes on after 256 ms, and speech that begins later pauses it again', () => {
  const { decision, fades, state } = bargeIn();
  decision.suspected(936, 1000);
  assert.equal(decision.advance(0, 1255), undefined);
  assert.deepEqual(decision.advance(0, 1256), { type: 'bargein.false', track: 3, atMs: 1256, speechMs: 0 });
  state.playing = 3;
  assert.equal(decision.started(1300, 1364)?.type, 'bargein.paused');
  assert.deepEqual(fades, [3, 3]);
});

test('after an error the next suspicion waits for 4 s, then for twice as long, at most 64 s', () => {
  const { decision, state } = bargeIn();
  let atMs = 1000;
  for (const waitMs of [4000, 8000, 16_000, 32_000, 64_000, 64_000]) {
    state.playing = 3;
    assert.equal(decision.suspected(atMs, atMs)?.type, 'bargein.paused');
    atMs += 256;
    assert.equal(decision.advance(0, atMs)?.type, 'bargein.false');
    state.playing = 3;
    atMs += waitMs;
    assert.equal(decision.suspected(atMs - 1, atMs - 1), undefined);
  }
});

test('speech that interrupts makes suspicions as good as new', () => {
  const { decision, state } = bargeIn();
  const isMistaken = (atMs: number) => {
    state.playing = 3;
    return (
      decision.suspected(atMs, atMs) !== undefined &&
      decision.advance(0, atMs + 256)?.type === 'bargein.false'
    );
  };
  assert.ok(isMistaken(1000) && isMistaken(5256));
  state.playing = 3;
  decision.started(6000, 6064);
  assert.equal(decision.advance(250, 6250)?.type, 'bargein.confirmed');
  decision.stopped(250, 6500);
  assert.ok(isMistaken(5512 + 8000) && isMistaken(5512 + 8000 + 256 + 4000));
});

test('only a high sensitivity suspects, speech that is found is suspect no more, and no order by hand is', () => {
  for (const sensitivity of ['medium', 'low'] as const)
    assert.equal(bargeIn({ sensitivity }).decision.suspected(0, 32), undefined);
  assert.equal(bargeIn({ endedByHand: true }).decision.suspected(0, 32), undefined);
  const { decision } = bargeIn({}, 4);
  decision.started(0, 64);
  assert.equal(decision.suspected(0, 96), undefined);
});

test('words of speech before it do not end a suspicion, and a track that ends does', () => {
  const { decision } = bargeIn();
  decision.suspected(936, 1000);
  assert.equal(decision.dismiss(1010), undefined);
  assert.equal(decision.awaitWords(false, 1020), undefined);
  assert.deepEqual(decision.interruptible([], 1030), {
    type: 'bargein.false',
    track: 3,
    atMs: 1030,
    speechMs: 0,
  });
});

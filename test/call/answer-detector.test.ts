// Detection of who answers by the speech, the words and the tones of the far end, with times in milliseconds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerSettings } from '../../src/call/answer-detection.js';
import {
  ANSWER_BOUNDS,
  AnswerDetector,
  type AnswerSettings,
  type AnswerTone,
  type DetectedAnswer,
} from '../../src/call/answer-detector.js';

const SETTINGS: Partial<AnswerSettings> = {
  speechThresholdMs: 2400,
  speechEndThresholdMs: 1000,
  silenceTimeoutMs: 5000,
  timeoutMs: 30_000,
};
/** The end of speech is known so long after it. */
const LATE_MS = 192;

class Line {
  readonly detector: AnswerDetector;
  readonly told: string[] = [];

  constructor(settings: Partial<AnswerSettings> = {}) {
    this.detector = new AnswerDetector(answerSettings({ ...SETTINGS, ...settings }));
  }

  /** Time passes, and the detector is asked whenever it is due. */
  at(ms: number): this {
    while (this.detector.nextMs <= ms) this.keep(this.detector.advance(this.detector.nextMs));
    return this;
  }

  keep(result: DetectedAnswer | undefined): this {
    if (result === undefined) return this;
    const { by, basis, atMs, isEarly, tone } = result;
    this.told.push([by, atMs, basis, tone, isEarly ? 'early' : undefined].filter(Boolean).join(' '));
    return this;
  }

  answered(ms: number): this {
    this.at(ms).detector.answered(ms);
    return this;
  }

  speech(beginMs: number, endMs: number): this {
    this.at(beginMs).detector.speechStarted(beginMs);
    return this.at(endMs + LATE_MS).keep(this.detector.speechStopped(endMs, endMs + LATE_MS));
  }

  words(phrase: Parameters<AnswerDetector['words']>[0], ms: number): this {
    return this.at(ms).keep(this.detector.words(phrase, ms));
  }

  tone(kind: AnswerTone['kind'], atMs: number, durationMs: number): this {
    const ms = atMs + durationMs;
    return this.at(ms).keep(this.detector.tone({ kind, atMs, durationMs }, ms));
  }
}

const line = (settings?: Partial<AnswerSettings>) => new Line(settings);

test('short speech and silence behind it is a person, a second after the last word', () => {
  const { told, detector } = line().answered(0).speech(700, 1300).at(30_000);
  assert.deepEqual(told, ['human 2300 speech']);
  assert.ok(detector.isOver);
});

test('a second word before the silence is long enough is part of the greeting', () => {
  assert.deepEqual(line().answered(0).speech(500, 900).speech(1700, 2000).at(9000).told, [
    'human 3000 speech',
  ]);
});

test('long speech is a machine, as soon as it is sure that the speech has not ended before', () => {
  const { told } = line().answered(0).speech(500, 5000).at(6900);
  assert.deepEqual(told, ['machine 3156 speech']);
});

test('speech with short pauses adds up', () => {
  const { told } = line().answered(0).speech(0, 1000).speech(1500, 2500).speech(3000, 4000).at(5900);
  assert.deepEqual(told, ['machine 3656 speech']);
});

test('a greeting that was as long as the threshold when it ended is a machine, not a person', () => {
  const { told } = line().answered(0).speech(0, 2400).at(3400);
  assert.deepEqual(told, ['machine 3400 speech']);
});

test('the silence behind the greeting of a machine is told once, and a beep behind it', () => {
  const { told, detector } = line().answered(0).speech(0, 6000).speech(8500, 9000).tone('beep', 12_000, 400);
  assert.deepEqual(told, [
    'machine 2656 speech',
    'machine_silence 8000 speech',
    'machine_beep 12400 tone beep',
  ]);
  assert.ok(detector.isOver);
});

test('a beep behind a short greeting shows a machine, also shortly after it was taken for a person', () => {
  assert.deepEqual(line().answered(0).speech(300, 1200).tone('beep', 1500, 300).told, [
    'machine_beep 1800 tone beep',
  ]);
  assert.deepEqual(line().answered(0).speech(300, 1200).tone('beep', 3000, 300).told, [
    'human 2200 speech',
    'machine_beep 3300 tone beep',
  ]);
  assert.deepEqual(line().answered(0).speech(300, 1200).tone('beep', 8000, 300).told, ['human 2200 speech']);
});

test('while a tone behind the speech goes on nothing is a person, and a beep that is told then is a machine', () => {
  const under = line().answered(0).speech(300, 1200).tone('steady', 2000, 100).at(3000);
  assert.deepEqual(under.told, []);
  assert.deepEqual(under.tone('beep', 2000, 1000).told, ['machine_beep 3000 tone beep']);
  assert.deepEqual(line().answered(0).speech(300, 1200).tone('steady', 2000, 100).at(4000).told, [
    'human 3600 speech',
  ]);
  assert.deepEqual(line().answered(0).tone('steady', 100, 100).speech(300, 1200).at(2200).told, [
    'human 2200 speech',
  ]);
});

test('a beep before any speech, or a click, is not the end of a greeting', () => {
  assert.deepEqual(line().answered(0).tone('beep', 200, 400).speech(900, 1300).at(2300).told, [
    'human 2300 speech',
  ]);
  assert.deepEqual(line().answered(0).speech(300, 900).tone('beep', 1000, 60).at(2000).told, [
    'human 1900 speech',
  ]);
});

test('nothing is a person by default: silence is told as such, and a noise is no speech', () => {
  assert.deepEqual(line().answered(1000).at(40_000).told, ['silence 6000 time']);
  assert.deepEqual(line().answered(1000).speech(2000, 2140).at(40_000).told, ['silence 6000 time']);
});

test('speech that never ends and never becomes long enough is unknown at the end', () => {
  const told = line({ speechThresholdMs: 6000, speechEndThresholdMs: 5000, timeoutMs: 10_000 });
  for (let ms = 0; ms < 14_000; ms += 2000) told.answered(0).speech(ms, ms + 500);
  assert.deepEqual(told.told, ['unknown 10000 time']);
});

test('before the answer only fax, tones and announcements are told, each once', () => {
  const { told, detector } = line()
    .speech(0, 400)
    .tone('sit', 1000, 900)
    .tone('sit', 2000, 900)
    .speech(3000, 5000)
    .speech(6000, 9000)
    .tone('cng', 10_000, 500)
    .tone('beep', 11_000, 500);
  assert.deepEqual(told, [
    'tone 1900 tone sit early',
    'announcement 3800 speech early',
    'fax 10500 tone cng early',
  ]);
  assert.equal(detector.isOver, false);
});

test('speech before the answer does not count after it', () => {
  const early = line().speech(0, 100);
  early.at(1000).detector.speechStarted(1000);
  early.answered(2000).keep(early.detector.speechStopped(2500, 2700));
  assert.deepEqual(early.at(9000).told, ['human 3500 speech']);
});

test('a fax is told by its tone, but CNG behind a greeting is a beep of that frequency', () => {
  assert.deepEqual(line().answered(0).tone('ced', 500, 500).at(9000).told, ['fax 1000 tone ced']);
  assert.deepEqual(line().answered(0).tone('cng', 500, 500).at(9000).told, ['fax 1000 tone cng']);
  assert.deepEqual(line().answered(0).speech(300, 1300).tone('cng', 1400, 500).told, [
    'machine_beep 1900 tone beep',
  ]);
});

for (const kind of ['sit', 'busy', 'reorder'] as const) {
  test(`the network's ${kind} after the answer is a tone, and ends the detection`, () => {
    const { told, detector } = line().answered(0).tone(kind, 500, 900).at(9000);
    assert.deepEqual(told, [`tone 1400 tone ${kind}`]);
    assert.ok(detector.isOver);
  });
}

test('ring-back that goes on after the answer decides nothing', () => {
  assert.deepEqual(line().answered(0).tone('ring_back', 0, 300).speech(800, 1200).at(2200).told, [
    'human 2200 speech',
  ]);
});

test('words of a voicemail decide at once, and correct a person', () => {
  const short = line().answered(0);
  short.detector.speechStarted(200);
  assert.deepEqual(short.words('voicemail', 1400).told, ['machine 1400 words']);
  assert.deepEqual(line().answered(0).speech(200, 900).words('voicemail', 2500).told, [
    'human 1900 speech',
    'machine 2500 words',
  ]);
});

test('words of a person shorten the silence, and let a long greeting be a person', () => {
  assert.deepEqual(line().answered(0).speech(200, 700).words('person', 1000).at(9000).told, [
    'human 1300 words',
  ]);
  const long = line().answered(0);
  long.detector.speechStarted(0);
  long.words('person', 1000).at(3192).keep(long.detector.speechStopped(3000, 3192));
  assert.deepEqual(long.at(9000).told, ['human 3600 words']);
});

test('a greeting that goes on is no longer that of a person', () => {
  const hello = line().answered(0).speech(200, 700).words('person', 900);
  assert.deepEqual(hello.words(undefined, 1100).at(9000).told, ['human 1700 speech']);
});

test('a screening service is answered once it has asked, and the person behind it is a person', () => {
  const { told, detector } = line().answered(0).speech(200, 2300).words('screening', 2400).at(2800);
  assert.deepEqual(told, ['screening 2800 words']);
  assert.equal(detector.nextMs, Infinity);
  const after = line().answered(0).speech(200, 2300).words('screening', 2400).at(2800);
  after.detector.again(6000);
  after.speech(6500, 8000).words('waiting', 8300).at(20_000).speech(21_000, 21_400).at(40_000);
  assert.deepEqual(after.told, ['screening 2800 words', 'human 22400 speech']);
});

test('a screening service is told also after it was taken for a machine, and by its beep', () => {
  const { told } = line().answered(0).speech(0, 4000).words('screening', 4300).tone('beep', 4350, 100);
  assert.deepEqual(told, ['machine 2656 speech', 'screening 4450 words']);
});

test('nobody behind the screening service is unknown after the time-out, and a fourth question is a machine', () => {
  const asked = line().answered(0);
  for (let n = 0, ms = 0; n < 3; n++, ms += 10_000) {
    asked
      .speech(ms + 200, ms + 2000)
      .words('screening', ms + 2100)
      .at(ms + 2500);
    asked.detector.again(ms + 5000);
  }
  assert.deepEqual(asked.told, ['screening 2500 words', 'screening 12500 words', 'screening 22500 words']);
  asked.speech(30_000, 33_000).words('screening', 33_300).at(80_000);
  assert.deepEqual(asked.told.slice(3), ['machine 32656 speech', 'machine_silence 35000 speech']);
  const alone = line().answered(0).speech(200, 2000).words('screening', 2100).at(2500);
  alone.detector.again(5000);
  assert.deepEqual(alone.at(80_000).told, ['screening 2500 words', 'unknown 35000 time']);
});

test('settings beyond their bounds are refused by name', () => {
  for (const name of Object.keys(ANSWER_BOUNDS) as (keyof AnswerSettings)[]) {
    const [least, , most] = ANSWER_BOUNDS[name];
    for (const value of [least - 1, most + 1, NaN])
      assert.throws(() => line({ [name]: value }), { code: 'INVALID_FIELD', field: name });
    for (const value of [least, most]) assert.equal(line({ [name]: value }).detector.isOver, false);
  }
});

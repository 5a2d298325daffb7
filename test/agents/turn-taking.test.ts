// When an agent takes its turn: the decisions of the hearing worker are real and run in this thread. The
// test speaks for the caller, and for the recogniser, whose text of a pause comes 100 ms after the pause.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { SILENCE_DB } from '../../src/hearing/ear-source.js';
import { EchoGuardWorkspace } from '../../src/hearing/echo-guard.js';
import { ListenedCall } from '../../src/hearing/listened-call.js';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import { openCalls } from '../fakes/call-under-test.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';
import { openAgent } from './agent-under-test.js';
import { until } from '../fakes/until.js';
import { settle } from './handled-call.js';

const calls = openCalls();
const WINDOW_MS = 32;
const TEXT_MS = 100;
const SETTINGS: HearingSettings = { ...HEARING_SETTINGS, ignoreBackchannel: true };
const CALLER_DB = -20;
const WINDOW = new Float32Array(WINDOW_SAMPLES);
const NO_SOUND = { caller: WINDOW, ours: WINDOW, oursDb: SILENCE_DB, dropped: 0 };
const MEMORY = { reset: () => undefined, skip: () => undefined };

interface Setting {
  /** Without it, there are only partial texts. */
  readonly tellsPauses?: boolean;
}

function open({ tellsPauses = true }: Setting = {}) {
  const recogniser = new ScriptedRecogniser();
  recogniser.tellsPauses = tellsPauses;
  const under = openAgent(calls, { recogniser, agent: { filler: undefined } });
  const { hearing, port, time } = under;
  under.call.listen({ ignoreBackchannel: true });
  const worker = new ListenedCall({
    media: { socket: 1, playout: 1 },
    settings: SETTINGS,
    memory: MEMORY,
    echo: new EchoGuardWorkspace(),
    fade: (_playout, track) => port.playout.fade(track),
    onEvent: (event) => hearing.report(event),
  });
  let told = 0;
  hearing.onAsked = () => {
    worker.expectWords(hearing.expectedWords);
    worker.interruptible(hearing.tracks.map((track) => ({ track, by: 'any' })));
    for (; told < hearing.words.length; told++) worker.words(hearing.words[told] ?? assert.fail());
  };
  hearing.onAsked();
  /** Windows of speech or silence, each decided when it has come. */
  const pass = (ms: number, isSpeech = false, speechDb = CALLER_DB) => {
    for (let at = 0; at < ms; at += WINDOW_MS) {
      under.pass(WINDOW_MS);
      const callerDb = isSpeech ? speechDb : SILENCE_DB;
      worker.isWorthModel({ ...NO_SOUND, endMs: time.now(), callerDb });
      worker.decide(isSpeech ? 1 : 0, time.now());
    }
  };
  const session = () => recogniser.opened[0] ?? assert.fail('nobody listens');
  session().textOf = () => undefined; // the test tells it
  let part = 0;
  let text = '';
  under.call.observe((event) => {
    if (event.type !== 'turn.ended') return;
    const final = { part: part++, text, stable: 0, language: 'en', beginSeconds: 0, endSeconds: 1 };
    text = '';
    queueMicrotask(() => session().listener.final(final));
  });
  /** The caller adds this to the turn, and then is silent. */
  const say = async (words: string, ms: number, silenceMs: number, db = CALLER_DB) => {
    text = `${text} ${words}`.trim();
    pass(ms / 2, true, db);
    if (!tellsPauses) session().partial(text, 0, part);
    pass(ms / 2, true, db);
    pass(192);
    pass(TEXT_MS);
    if (tellsPauses && under.hearing.expectedWords === 'texts of pauses') session().pause(text, part);
    pass(silenceMs - 192 - TEXT_MS);
    await settle();
  };
  const turns = () => under.count('turn.ended');
  return { ...under, say, turns, pass };
}

const NUMBERS = [
  ['zero one seven one', 'two three four', 'five six seven eight'],
  ['My number is', '0171', '234', '5678.'],
  ['It is 555,', 'double two,', 'nine.'],
  ['four', 'two', 'seven', 'one'],
  ['oh two oh', 'seven nine four six', 'oh one two three'],
  ['plus four nine', 'one seven one', 'six hundred'],
  ['The card number is 4111.', '1111.', '1111.', '1111.'],
  ['twenty-one,', 'thirty-four,', 'fifty-five'],
  ['My postcode is', '10115', 'number 7'],
  ['A B', '12', 'C D'],
  ['customer number', 'one hundred', 'twelve'],
  ['D E 89', '3704', '0044', '0532'],
] as const;

for (const tellsPauses of [true, false]) {
  test(`dictated numbers with pauses of 0.9 and 1.2 s are one turn each, by ${tellsPauses ? 'texts of pauses' : 'partial texts'}`, async () => {
    for (const pauseMs of [900, 1200]) {
      for (const groups of NUMBERS) {
        const under = open({ tellsPauses });
        for (const group of groups) {
          assert.equal(under.turns(), 0, `${groups.join(' ')}: cut before "${group}"`);
          await under.say(group, 800, pauseMs);
        }
        under.pass(2000);
        await settle();
        assert.equal(under.turns(), 1);
        const [answer] = under.model.answers;
        assert.equal(answer?.asked.at(-1), `user: ${groups.join(' ')}`);
        assert.equal(under.model.answers.length, 1, 'the agent did not talk into the number');
        await under.call.close('next');
      }
    }
  });
}

test('answers and complete sentences end a turn early, other texts after the usual silence, unfinished ones late', async () => {
  for (const [text, endMs] of [
    ['Yes.', 352],
    ['No, thanks.', 352],
    ['I need a taxi to the airport.', 352],
    ['Berlin', 608],
    ['I need a taxi and', 2016],
    ['I, um', 2016],
    ['12 Baker Street', 2016],
  ] as const) {
    const under = open();
    await under.say(text, 800, 320);
    let silentMs = 320;
    for (; under.turns() === 0 && silentMs < 5000; silentMs += WINDOW_MS) under.pass(WINDOW_MS);
    assert.ok(Math.abs(silentMs - endMs) <= 2 * WINDOW_MS, `${text}: ${silentMs} ms`);
    await under.call.close('next');
  }
});

for (const text of ['Stop.', 'no', 'yes', 'agent']) {
  test(`"${text}" over the voice keeps it paused until its words are known, and then stops it`, async () => {
    const under = open();
    await hearAnswer(under);
    await under.say(text, 320, 320);
    assert.equal(under.count('utterance.paused'), 1);
    assert.equal(under.count('utterance.resumed'), 0);
    assert.equal(under.count('utterance.interrupted'), 1);
    under.pass(2000);
    await settle();
    assert.match((await under.model.asked(1)).asked.at(-1) ?? '', new RegExp(`\\b${text}$`));
  });
}

test('a back-channel pauses the voice until its words are known, and is no question', async () => {
  const under = open();
  await hearAnswer(under);
  await under.say('mhm', 320, 320);
  assert.equal(under.count('utterance.resumed'), 1);
  under.pass(1000);
  await settle();
  assert.deepEqual([under.turns(), under.count('utterance.interrupted')], [2, 0]);
  assert.equal(under.model.answers.length, 1);
});

test('words of somebody behind the caller pause the voice once, and are neither an interruption nor a question', async () => {
  for (const ms of [320, 1280]) {
    const under = open();
    await hearAnswer(under);
    await under.say('Dinner is ready and', ms, 640, CALLER_DB - 14);
    await under.say('it gets cold.', ms, 640, CALLER_DB - 14);
    assert.deepEqual([under.count('utterance.paused'), under.count('utterance.resumed')], [1, 1], `${ms} ms`);
    under.pass(2000);
    await settle();
    assert.deepEqual([under.turns(), under.count('utterance.interrupted')], [2, 0]);
    assert.equal(under.model.answers.length, 1);
    await under.call.close('next');
  }
});

test('words that never come hold the voice for two seconds at most', async () => {
  const under = open({ tellsPauses: false });
  await hearAnswer(under);
  under.pass(320, true);
  under.pass(1500);
  assert.equal(under.count('utterance.resumed'), 0);
  under.pass(600);
  assert.equal(under.count('utterance.resumed'), 1);
});

async function hearAnswer(under: ReturnType<typeof open>): Promise<void> {
  await under.say('Hello there, my friend.', 800, 700);
  (await under.model.asked(0)).say('It leaves at nine. '.repeat(8)).done();
  await under.passUntil(() => under.count('utterance.started') === 1);
  const encoded = () => until(() => under.call.stats().queuedMs >= 500); // the encoder is a thread
  await encoded();
  under.pass(500);
  await encoded();
}

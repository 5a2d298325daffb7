// Menus in whole calls: a phone tree of three levels and a customer number. The caller is a far end over SIP
// and RTP on loopback. The application holds its next document until the caller has heard silence.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import twilio from 'twilio';
import { formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { until } from '../fakes/until.js';
import { Transcripts } from '../interop/telephone/agent-call.js';
import { kept } from '../interop/telephone/kept.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { heardBy } from './heard-calls.js';
import { type Caller, callTo } from './joined-callers.js';
import { eventsOfCall, storyOf } from './program-calls.js';
import { okTo } from './raw-caller.js';

const TOKEN = 'the-token-of-this-server';
const FRAME_MS = 20;
const FRAME = 160; // samples of 8 kHz
const LOUD = 0.03; // amplitude
const LEAST_HEARD = 10; // loud frames of a prompt
const QUIET = 40; // frames without speech: longer than any pause within these prompts
const DEPARTMENT = 'I have a question about my last bill.';
const PROMPTS = {
  tree: 'Press one for customers and two for everybody else who is calling us about anything this morning',
  department: 'Say in a few words what you would like to talk about with one of us this morning or afternoon',
  language: 'Press three for a colleague who speaks English and four for a colleague who speaks German now',
  reached: 'You have reached billing.',
  number: 'Enter the six digits of the customer number on your bill and the pound key after the last of them',
  again: 'A customer number has six digits and this one had another number of them so please enter it again',
  thanks: 'Thank you.',
};

function gathering(prompt: string, attributes: object): string {
  const response = new twilio.twiml.VoiceResponse();
  response.gather({ timeout: 60, ...attributes }).say(prompt);
  response.say('Nothing was entered.');
  return response.toString();
}

function ending(words: string): string {
  const response = new twilio.twiml.VoiceResponse();
  response.say(words);
  response.hangup();
  return response.toString();
}

async function openMenus(t: TestContext) {
  const held: ServerResponse[] = [];
  const application = await openApplication(t, (response) => void held.push(response));
  const recogniser = await TranscriptionServerUnderTest.open(t);
  const transcripts = new Transcripts(recogniser, t);
  const environment = {
    TWIML_URL: `${application.origin}/voice`,
    TWIML_AUTH_TOKEN: TOKEN,
    ASR_BASE_URL: recogniser.baseUrl,
    ASR_MODEL: 'whisper-1',
  };
  const server = await kept(t, TelephoneServer.start(environment));
  /** Answers the next request, whose path and signature are checked. Returns its form. */
  const answer = async (path: string, document: string) => {
    await until(() => held.length > 0);
    const asked = application.asked.at(-1) ?? assert.fail('nothing was asked');
    assert.equal(asked.path, path);
    const form = formIn(asked.body);
    const signature = String(asked.headers['x-twilio-signature']);
    assert.ok(twilio.validateRequest(TOKEN, signature, application.origin + path, form), `of ${path}`);
    held.shift()?.writeHead(200, TWIML).end(document);
    return form;
  };
  const requested = () => until(() => held.length > 0);
  return { server, transcripts, answer, requested };
}

const isLoud = (sound: Float32Array) => sound.some((sample) => Math.abs(sample) > LOUD);

function loudFrames(sound: Float32Array): number {
  const frames = Array.from({ length: sound.length / FRAME }, (_, n) =>
    sound.subarray(n * FRAME, (n + 1) * FRAME),
  );
  return frames.filter(isLoud).length;
}

/** Looks 50 times a second: the server works on this thread, too. */
const looked = (condition: () => boolean) =>
  until(async () => {
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    return condition();
  });

/** A prompt is heard beyond the packets that came before. Returns the number of packets by now. */
async function hears(caller: Caller, from: number): Promise<number> {
  await looked(() => loudFrames(heardBy(caller, from)) > LEAST_HEARD);
  return caller.rtp.heard.length;
}

/** Silence lasts for longer than a pause: the prompt has stopped. Returns the number of packets by now. */
async function hearsSilence(caller: Caller): Promise<number> {
  const from = caller.rtp.heard.length;
  await looked(() => {
    const sound = heardBy(caller, from);
    return sound.length >= QUIET * FRAME && !isLoud(sound.subarray(-QUIET * FRAME));
  });
  return caller.rtp.heard.length;
}

/** The server hangs up. */
async function isHungUp({ signalling }: Caller): Promise<void> {
  const bye = () => signalling.heard.find((message) => message.startsWith('BYE '));
  await until(() => bye() !== undefined);
  signalling.send(okTo(bye() ?? ''));
}

async function pressAll({ stream }: Caller, keys: string): Promise<void> {
  for (const key of keys) await stream.press(key);
}

test('a phone tree of three levels is walked by a key, by speech that interrupts, and by another key', async (t) => {
  const { server, transcripts, answer, requested } = await openMenus(t);
  const { samples } = await server.rendered(DEPARTMENT, { voice: 'rms' });
  const calling = callTo(server, t);
  await answer('/voice', gathering(PROMPTS.tree, { numDigits: 1, action: '/customers' }));
  const caller = await calling;
  await hears(caller, 0);
  await caller.stream.press('1');
  await requested();
  let from = await hearsSilence(caller);
  const spoken = { input: 'speech', speechTimeout: 'auto', action: '/department' };
  const first = await answer('/customers', gathering(PROMPTS.department, spoken));
  assert.deepEqual([first['Digits'], first['SpeechResult']], ['1', undefined]);
  await hears(caller, from);
  transcripts.next = DEPARTMENT;
  await caller.stream.play(samples);
  await requested();
  from = await hearsSilence(caller);
  const second = await answer(
    '/department',
    gathering(PROMPTS.language, { numDigits: 1, action: '/language' }),
  );
  assert.deepEqual([second['SpeechResult'], second['Digits']], [DEPARTMENT, undefined]);
  await hears(caller, from);
  await caller.stream.press('3');
  await requested();
  from = await hearsSilence(caller);
  const third = await answer('/language', ending(PROMPTS.reached));
  assert.deepEqual([third['Digits'], third['CallSid']], ['3', first['CallSid']]);
  await hears(caller, from);
  await isHungUp(caller);
  const story = storyOf(await eventsOfCall(server.server));
  // No prompt was spoken to its end, except the last one.
  assert.deepEqual(story, ['gather', 'gather', 'gather', 'say', `“${PROMPTS.reached}”`, 'hangup', 'ended']);
});

test('a customer number of the wrong length is asked for again, and the right one goes on', async (t) => {
  const { server, answer, requested } = await openMenus(t);
  const calling = callTo(server, t);
  const action = { action: '/number', finishOnKey: '#' };
  await answer('/voice', gathering(PROMPTS.number, action));
  const caller = await calling;
  await hears(caller, 0);
  await pressAll(caller, '12345#');
  await requested();
  let from = await hearsSilence(caller);
  const short = await answer('/number', gathering(PROMPTS.again, action));
  assert.deepEqual([short['Digits'], short['FinishedOnKey']], ['12345', '#']);
  await hears(caller, from);
  await pressAll(caller, '123456#');
  await requested();
  from = await hearsSilence(caller);
  const right = await answer('/number', ending(PROMPTS.thanks));
  assert.deepEqual([right['Digits'], right['FinishedOnKey']], ['123456', '#']);
  await hears(caller, from);
  await isHungUp(caller);
  const story = storyOf(await eventsOfCall(server.server));
  assert.deepEqual(story, ['gather', 'gather', 'say', `“${PROMPTS.thanks}”`, 'hangup', 'ended']);
});
